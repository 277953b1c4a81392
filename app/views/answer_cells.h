#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <string_view>

#include "app/widgets/heat_map.h"
#include "core/insight/answers.h"

namespace palimpsest {

/// How wide the names of the rows are, `most` at most.
float answer_names_width(const AnswerTable& table, float most);

/// What the thick frame is around: the word at the cursor, or the row of a text that comes again.
std::string_view thick_frame_words(const AnswerTable& table);

/// The words beside the rows of a table whose cells begin `head` below `corner`, ended `names` to its right,
/// before a word that comes again the number of the one that is asked with; what each stands for in a
/// tooltip. All in screen pixels.
void draw_answer_names(const AnswerTable& table, ImVec2 corner, float names, float cell_height, float head);

/// What has the strongest colour: 1, or nearly the largest of all three tables where more than a twentieth of
/// their numbers are beyond it.
double answer_scale(const AnswerTable& table);

/// Of the label "red → key" what is stored under, "red", and what is stored, "key"; other labels whole.
std::string asked_part(const std::string& label);
std::string answered_part(const std::string& label);

/// The title of a table, with the end of its colours where that is not 1: "before, to ±3.20".
std::string title_with_scale(std::string_view title, double scale);

/// What the colours mean, and why they end elsewhere than at 1.
std::string scale_words(double scale);

/// A number as it stands in a cell: "0.35", "-31.9", "315", "2e+04".
std::string answer_number(double value);

/// One of the tables with its title, if it has one, and the words above its columns. Returns the cell under
/// the pointer.
std::optional<Cell> draw_answer_cells(const AnswerTable& table, const Matrix<double>& values,
                                      std::string_view title, ImVec2 corner, ImVec2 cell, float head,
                                      double scale);

/// What the numbers of a row come to, in a tooltip beside the `pictures`.
void explain_answer(const AnswerTable& table, std::string_view title, const Matrix<double>& values, Cell cell,
                    const Rectangle& pictures);

}  // namespace palimpsest
