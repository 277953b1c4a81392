#pragma once

#include <imgui.h>

#include <optional>
#include <string_view>

#include "app/widgets/heat_map.h"
#include "core/insight/answer_table.h"

namespace palimpsest {

/// The words beside the rows of a table whose cells begin `head` below `corner`, ended `names` to its right;
/// what each stands for in a tooltip. All in screen pixels.
void draw_answer_names(const AnswerTable& table, ImVec2 corner, float names, float cell_height, float head);

/// One of the tables with its title, if it has one, and the words above its columns. Returns the cell under
/// the pointer.
std::optional<Cell> draw_answer_cells(const AnswerTable& table, const Matrix<double>& values,
                                      std::string_view title, ImVec2 corner, ImVec2 cell, float head);

/// What the numbers of a row come to, in a tooltip beside the `pictures`.
void explain_answer(const AnswerTable& table, std::string_view title, const Matrix<double>& values, Cell cell,
                    const Rectangle& pictures);

}  // namespace palimpsest
