#pragma once

#include "app/session/memory_questions.h"
#include "app/session/session.h"

// The sentences of Step: about the values that a memory returns; and about single tokens, which the timeline,
// the floors and the panel that explains a number show.

namespace palimpsest {

inline constexpr double least_number = 0.1;  // smaller coefficients are shown without a number

/// The row with the largest change, except the current token's; nothing if that is too small to see.
std::optional<Index> noticeably_changed(const AnswerTable& table);

/// The text beside a row's token: "query of", or its number if the text has several.
std::string row_number(const AskedWord& word);

/// The same above a column, which sums the values of all of them: "8…44"; `briefly`: "8…".
std::string column_number(const AskedWord& word, bool briefly);

/// The tooltip of a row.
std::string row_words(const AnswerTable& table, Index row);

/// How to read the tables, with colours up to `scale`.
std::string how_to_read_words(const AnswerTable& table, double scale, bool has_output);

/// The range of the colours, and why it is not 1 if so.
std::string scale_words(double scale);

/// A number as its cell shows it: "0.35", "-31.9", "315", "2e+04".
std::string answer_number(double value);

/// The title of a table, with the end of its colour scale if that is not 1: "before, to ±3.20".
inline std::string title_with_scale(std::string_view title, double scale) {
  return scale == 1 ? std::string(title) : fmt::format("{}, to ±{}", title, answer_number(scale));
}

/// What a number of a table means.
std::string answer_words(const AnswerTable& table, std::string_view title, const Matrix<double>& values,
                         Index row, Index column);

// Single tokens.

/// "half-life 954 tokens" for a decay: the number of tokens after which half of a write remains.
std::string half_life_words(double kept);

/// The same for several decays: "half-life 12 … 954 tokens".
std::string half_lives_words(const Matrix<double>& alpha);

/// The facts of a token that are known: its decay, its write, its error before and after.
std::string facts_words(const Findings& computed, Index token, const Recall* recall);

/// "decay until “drum”: 0.93": how much of a write decay leaves.
std::string kept_words(const KeptBetween& kept, const std::string& until);

/// Whether the shown head has another rule than in the model, or edited inputs: the model's answer is
/// without.
bool is_changed_here(const Session& session);

/// The model's answer with its probability, and a note if the rule or inputs of the shown head were changed.
std::string answer_meaning(const Session& session);

/// The model at a token: its loss, then the token that it expects next.
std::string reading_words(const Session& session, Index token);

/// The norms of a token's error, before its write and after.
inline std::string error_norm_words(const Recall& recall) {
  return fmt::format("‖e‖ before the write {:.3g}, after {:.3g}", error_norm(recall.before),
                     error_norm(recall.after));
}

/// What became of a token's write into an entry: written, decayed, corrected by which tokens, remaining.
/// Empty if that is not known, as for a read. `labels` are those of all tokens.
std::string writer_fate(const WriterShare& writer, const std::vector<std::string>& labels);

}  // namespace palimpsest
