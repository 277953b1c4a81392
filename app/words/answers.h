#pragma once

#include "app/session/memory_questions.h"

// What Step says of the values that a memory returns.

namespace palimpsest {

inline constexpr double least_number = 0.1;  // smaller coefficients are colour alone

/// The other row that changes most, where one can see that.
std::optional<Index> noticeably_changed(const AnswerTable& table);

/// What is read beside the token that a row stands for: "query of", or its number where the text has several.
std::string row_number(const AskedWord& word);

/// The same above a column, which adds up the values of all: "8…44"; in less room "8…".
std::string column_number(const AskedWord& word, bool briefly);

/// What a row is, for its tooltip.
std::string row_words(const AnswerTable& table, Index row);

/// How to read the tables, whose colours end at `scale`.
std::string how_to_read_words(const AnswerTable& table, double scale, bool has_output);

/// The title of a table, with the end of its colours where that is not 1: "before, to ±3.20".
std::string title_with_scale(std::string_view title, double scale);

/// What the colours mean, and why they end elsewhere than at 1.
std::string scale_words(double scale);

/// A number as it stands in a cell: "0.35", "-31.9", "315", "2e+04".
std::string answer_number(double value);

/// What a number of a table says.
std::string answer_words(const AnswerTable& table, std::string_view title, const Matrix<double>& values,
                         Index row, Index column);

}  // namespace palimpsest
