#pragma once

#include "app/session/session.h"
#include "core/base/text.h"
#include "core/formula/expression.h"
#include "core/insight/answers.h"
#include "core/insight/learning.h"
#include "core/insight/recall.h"

// The sentences of Learn.

namespace palimpsest {

/// Which token or batch makes the step; `token` is "token 43 “drum”", `before` the text before it.
std::string moment_words(const LearningMoment* moment, const std::string& token, const std::string& before);

inline constexpr const char* learn_questions[] = {"How large can the step be?", "Which keys collide?",
                                                  "How much fits in?"};

/// Why there is no step: the rule has no loss, the token makes no step, or it is still being computed.
inline std::string no_loss_words(const Variant& variant) {
  return variant.loss.words + " This rule has no loss; Attend shows what it reads.";
}
inline constexpr const char* no_step_words = "This token makes no step.";
inline constexpr const char* step_under_way_words = "The step is being computed.";

/// What the step does to the error and the loss; and the two longest of these sentences, for the layout.
/// `rate` is the LaTeX of the write strength; empty: β.
std::string step_sentence(const LearningMoment& moment, const std::string& rate);
inline constexpr const char* longest_step_sentences[] = {
    "The step is 88.88 times its stability limit: it increases the loss.",
    "The error is multiplied by 1 − β‖k‖² = −0.888, the loss by 0.79."};

/// The question and the caption of the story.
inline std::string learn_question(const std::string& token) {
  return fmt::format("{} is written: how much does the loss decrease?", token);
}
inline std::string learn_about(const LearningMoment& moment, const std::string& rate) {
  return step_sentence(moment, rate) +
         " The curve is the loss for every step size; the dot is the step taken.";
}

/// The effective rank of the state: the title, and the text below.
inline std::string spectrum_title(const std::string& state, bool is_one_of_several) {
  return fmt::format("Effective rank of {}", is_one_of_several ? state : "S");
}
inline std::string spectrum_words(Index tokens, double largest) {
  return fmt::format("after {}; largest σ = {:.3g}", counted(tokens, "token", "tokens"), largest);
}

// The loss along the step.

/// The titles of its axis, which can be dragged if the step has a parameter for its size.
std::vector<std::string> step_axis_titles(const LearningMoment& moment, double unit);
/// The band in which the loss decreases, up to `edge`; `is_seen`: `edge` is on the axis.
std::string decrease_words(const LearningMoment& moment, double edge, bool is_seen);
inline constexpr const char* increase_words = "loss increases";
/// Why a step does not end on the line along its gradient.
inline const char* landing_words(const LearningMoment& moment) {
  return moment.step.problem.moving.empty() ? "step taken" : "with momentum";
}
/// The stored token whose loss this step increases most; from long to short.
std::vector<std::string> interference_words(const std::string& token, const HarmedPair& pair);

// Newton–Schulz, and conjugate gradients.

std::vector<std::string> orthogonalise_words(Index steps, double growth);
std::vector<std::string> solve_words(const ConvergingSolve& solve);

// The step as matrices, or as a network.

/// "largest singular value 12 × the median", or briefly.
inline std::string largest_ratio_words(double ratio, bool briefly) {
  return fmt::format("largest{} {:.3g} × the median", briefly ? "" : " singular value", ratio);
}
/// The iterate of Newton–Schulz that is shown.
inline std::string iterate_words(std::size_t index, std::size_t last) {
  return index == last ? "orthogonalised"
         : index == 0  ? "not yet orthogonalised"
                       : fmt::format("after {} of {} steps", index, last);
}
/// The vector above a matrix; from long to short.
std::vector<std::string> margin_words(bool is_difference, bool is_step);
/// The lines of a network and what the step did, the most important first.
std::vector<std::string> network_words(const LearningMoment& moment, NetworkSide side);

// Keys, and how many pairs a memory holds.

inline std::string sphere_words(double explained) {
  return fmt::format("first 3 principal directions: {:.0f} % of the squared norms; drag to turn",
                     100 * explained);
}
/// What is measured: pairs with `channels` channels; the data have `given`.
std::string capacity_words(const std::string& rule, Index channels, Index given);

// The floor.

// Which stored tokens have a lane: those the user chose, those that are queried, or the strongest writes.
inline constexpr const char* chosen_lanes_words = "the chosen tokens";
inline constexpr const char* queried_lanes_words = "the tokens queried here, and the token itself";
inline std::string strongest_lanes_words(Index count) {
  return fmt::format("the strongest writes of the first {}", counted(count, "token", "tokens"));
}

/// What a stored token's key returns at a column of the floor: shares of its value, as in Remembered.
struct LaneState {
  double before = 0;
  double now = 0;
  bool is_there = true;  // the memory contains it
  bool is_own = false;   // it is written here
};

/// A lane of Learn at one token.
struct RecalledAt {
  std::string word;     // the stored token: “drum” (token 43)
  std::string present;  // the token that changes its recall
  LaneState state = {};
  bool is_alignment = false;
  Index beside = 0;  // number of other tokens whose values are in the fit
};

/// How much of a value its key retrieves, or its direction, and what the current token did to that; in lines.
std::string recalled_words(const RecalledAt& at);

/// The title of the lanes, the legend of the right share and of the excess, and what is measured.
struct RecalledLegend {
  std::string_view title;
  std::string_view right;
  std::string_view excess;
  std::string_view measure;
};
const RecalledLegend& recalled_legend(bool is_alignment);

/// What is measured, and what exactly the memory of `variant` is queried with.
std::string recalled_measure(bool is_alignment, const Variant& variant);

/// "β‖k‖² = 0.856: effective step size.\n…": of one token, with its write strength below.
std::string step_size_words(const StepReach& strengths, Index token);
/// "β‖k‖² > 2 first at token 6 “key”"; "β‖k‖²" alone without a token.
inline std::string reach_symbol(const StepReach& strengths) {
  return unicode(strengths.symbol) + (strengths.is_network ? " × curvature" : "‖k‖²");
}

/// "α = 0.9993: half-life 954 tokens": of `channel`, or of all channels together (-1).
std::string keeping_words(const Keeping& keeping, Index channel, Index token, const std::string& half_life);
inline std::string growth_words(double root_mean_square) {
  return fmt::format("root mean square of the entries of S after the write: {:.3g}", root_mean_square);
}

inline constexpr const char* paint_words = "Drag to paint the bars; Shift+drag paints a ramp.";
inline constexpr const char* no_strength_words =
    "every token of this rule has the same step size: there is no strength to paint";
inline constexpr const char* no_gate_words =
    "no input holds this decay token by token: it is one setting, or computed from other inputs";

}  // namespace palimpsest
