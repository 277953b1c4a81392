#pragma once

#include "app/session/attention_questions.h"
#include "core/base/text.h"

// The sentences of Attend.

namespace palimpsest {

/// A share or weight as it is written: "40 %", "-0.12".
std::string weight_words(double number, bool is_share);

inline constexpr const char* attend_title = "Effective attention weights";

/// What rows and columns are, and whose weights, where those are not the output's.
const char* attend_legend(const AttentionFacts& facts);

/// "; own scale ±0.05", for a square with another colour scale than the other one.
inline std::string own_scale_words(double range) {
  return fmt::format("; own scale ±{}", plain_number(range, 2));
}

/// How to read a square, of the rule or of softmax with this scale; a pixel shows the largest of `weights`
/// weights.
std::string square_words(WeighedBy by, bool gates_are_1, double scale, Index weights, bool briefly);

/// One cell: the weight of this query and key; without `weight` it is not known.
std::string cell_words(const std::string& query, const std::string& key, std::optional<double> weight,
                       bool is_share, Index weights);

/// A switch of the picture, and what it does.
struct AttendSwitch {
  const char* words;
  const char* meaning;
};
inline constexpr AttendSwitch diagonal_switch = {
    "include the current token",
    "Shows the weight of each token's own value too, which is often the largest."};
inline constexpr AttendSwitch mask_switch = {
    "mask", "Without the mask every query reads the memory after the last token."};
inline constexpr AttendSwitch gates_switch = {
    "gates", "Without gates every gate is 1: what the rule reads if nothing decays."};
inline constexpr AttendSwitch chunks_switch = {
    "chunks",
    "Shows where chunks begin. Inside an outlined square the chunk computes the weights itself; all weights "
    "left of it come through the state."};
inline constexpr const char* shares_meaning =
    "Weights: the factor of each value in an output. Shares: |w| / Σ|w| in each row, with the sign of w. One "
    "scale fits all rows.";
inline constexpr const char* no_room_words = "The two pictures have no room here: make the panel larger.";

/// The question and the caption of the story.
inline std::string attend_question(const std::string& token) {
  return fmt::format("Which tokens does the output at {} read?", token);
}
inline constexpr const char* attend_about =
    "Each row is a token. Its cells show how much of each earlier token's value its output contains. Warm "
    "adds, cool subtracts.";

// Beside the squares.

inline constexpr const char* not_finite_words = "The weights of this row are not finite.";
inline constexpr const char* nothing_read_words = "No other token is read.";

/// Recall of a write, first and now, from long to short; and what it measures.
std::vector<std::string> recall_words(const LeftOfWrite& left);
inline constexpr const char* recall_meaning =
    "Recall, as in Learn, from this token's write on. The memory is queried with this token's key. The curve "
    "is the share of its value in what the memory returns. It is fitted jointly with the other tokens listed "
    "here, so Step's share differs slightly.";

/// The token that erased most of a write, or at which it decayed most; from long to short.
std::vector<std::string> most_lost_words(const LeftOfWrite& left, const std::string& quoted);

/// The sum of the listed weights; `softmax_most` names the token with the largest softmax weight, and is
/// empty if that token is listed.
std::string together_words(const RowOfWeights& row, const std::string& softmax_most);

inline constexpr const char* softmax_scale_meaning =
    "The weights of softmax are exp(scale · q·k), normalised. Many layers give q and k the norm 1. Then "
    "1/√K would make all weights nearly equal.";

/// Where the largest weight is, while it is out of view.
inline std::string largest_weight_words(const std::string& token, double share) {
  return fmt::format("largest weight: {}, {}", token, weight_words(share, true));
}

}  // namespace palimpsest
