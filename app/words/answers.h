#pragma once

#include "app/session/memory_questions.h"

// The sentences of Step about the values that a memory returns.

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

/// The title of a table, with the end of its colour scale if that is not 1: "before, to ±3.20".
std::string title_with_scale(std::string_view title, double scale);

/// The range of the colours, and why it is not 1 if so.
std::string scale_words(double scale);

/// A number as its cell shows it: "0.35", "-31.9", "315", "2e+04".
std::string answer_number(double value);

/// What a number of a table means.
std::string answer_words(const AnswerTable& table, std::string_view title, const Matrix<double>& values,
                         Index row, Index column);

}  // namespace palimpsest
