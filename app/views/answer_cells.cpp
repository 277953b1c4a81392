#include "app/views/answer_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "app/session/scales.h"
#include "app/stage/ranges.h"
#include "app/widgets/style.h"
#include "app/widgets/text.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr double least_number = 0.1;   // smaller ones are colour alone
constexpr float small_number = 0.84F;  // of the usual size, where a number would not fit

constexpr std::string_view stores = " → ";  // in the labels of made-up data

/// The other row that changes most, where one can see that.
std::optional<Index> noticeably_changed(const AnswerTable& table) {
  const auto& row = table.most_changed;
  const bool is_seen = row && !(table.change.row(*row).cwiseAbs().maxCoeff() < least_number);
  return is_seen ? row : std::nullopt;
}

/// One cell: its colour on the scale from -scale to scale, and its number where it says something.
void draw_cell(ImVec2 from, ImVec2 size, double value, double scale) {
  const Rgb8 paper = colour(style::colours().map, static_cast<float>(value), static_cast<float>(scale));
  const ImVec2 to = {from.x + size.x - px(1), from.y + size.y - px(1)};
  ImGui::GetWindowDrawList()->AddRectFilled(from, to, style::colour(paper));
  if (std::isfinite(value) && std::abs(value) < least_number) return;
  const std::string number = answer_number(value);
  const float usual = style::font_size(style::Text::number_small);
  ImGui::PushFont(style::font(style::Text::number_small), usual);
  if (text_extent(number).x > size.x - px(2)) {
    ImGui::PopFont();
    ImGui::PushFont(style::font(style::Text::number_small), usual * small_number);
  }
  const ImVec2 extent = text_extent(number);
  if (extent.x > size.x || extent.y > size.y) {
    ImGui::PopFont();
    return;
  }
  draw_text(
      {std::round(from.x + (size.x - px(1) - extent.x) / 2), std::round(from.y + (size.y - extent.y) / 2)},
      style::legible_on(paper), number);
  ImGui::PopFont();
}

/// Whether a row stands for several words of the text.
bool comes_again(const AskedWord& word) { return word.occurrences.size() > 1; }

/// What stands beside the word that a row asks with: its number, where the text has several such, "7"; of one
/// that asks with its query, "q of".
std::string number_of(const AskedWord& word) {
  if (word.by_query) return "q of";
  return comes_again(word) || word.is_again ? std::to_string(word.token) : "";
}

/// The same above a column, which adds up the values of all: "7…43"; in less room "7…".
std::string numbers_of(const AskedWord& word, bool briefly) {
  if (!comes_again(word)) return word.is_again ? std::to_string(word.token) : "";
  const Index first = word.occurrences.front();
  return briefly ? fmt::format("{}…", first) : fmt::format("{}…{}", first, word.occurrences.back());
}

float width_of_number(const std::string& number) {
  if (number.empty()) return 0;
  const style::TextStyle text(style::Text::number_small);
  return text_extent(number).x + px(5);
}

/// The name of a column with its number before it, as far as there is room for both.
void draw_column_name(const AskedWord& word, ImVec2 from, float width) {
  const style::Palette& c = style::colours();
  const std::string label = answered_part(visible_label(word.text));
  const ImVec2 extent = text_extent(label);
  std::string number = numbers_of(word, false);
  if (width_of_number(number) + extent.x > width) number = numbers_of(word, true);
  const float number_width = width_of_number(number);
  const float left = std::round(from.x + (width - number_width - extent.x) / 2);
  if (number.empty() || left < from.x) {
    draw_centred(from, width, c.value, label);
    return;
  }
  draw_text({left + number_width, from.y}, c.value, label);
  const style::TextStyle small(style::Text::number_small);
  draw_text({left, std::round(from.y + (extent.y - text_extent("0").y) / 2)}, c.dim, number);
}

/// What the frame of a row says; empty: it has none.
std::string mark_words(const AnswerTable& table, Index row) {
  if (row == table.present) return fmt::format(" Thick frame: {}.", thick_frame_words(table));
  if (row == noticeably_changed(table)) return " Thin frame: the other word whose answer changes most.";
  return {};
}

/// What the name of a row stands for, for its tooltip.
void explain_row(const AnswerTable& table, Index row, const Rectangle& name) {
  const AskedWord& word = table.words[static_cast<std::size_t>(row)];
  const char* const asked =
      word.by_query
          ? "with the query of this word, as its output is: this word reads. The other rows ask with keys."
          : "with the key stored here, which carries the words before it.";
  std::string words =
      fmt::format("“{}” (word {}): the memory is asked {}", visible_label(word.phrase), word.token, asked);
  if (comes_again(word))
    words += fmt::format(
        " “{}” is written strongly {} times so far: this row alone asks for it, with this one key; its "
        "column "
        "adds up the values of all of them.",
        visible_label(word.text), word.occurrences.size());
  words += mark_words(table, row);
  tooltip_beside(name.minimum, name.maximum, words);
}

}  // namespace

std::string asked_part(const std::string& label) { return label.substr(0, label.find(stores)); }

std::string answered_part(const std::string& label) {
  const std::size_t at = label.find(stores);
  return at == std::string::npos ? label : label.substr(at + stores.size());
}

double answer_scale(const AnswerTable& table) {
  constexpr double most_beyond = 0.05;
  std::vector<double> sizes;
  for (const Matrix<double>* values : {&table.before, &table.change, &table.after}) {
    for (Index i = 0; i < values->size(); ++i) {
      if (std::isfinite(values->data()[i])) sizes.push_back(std::abs(values->data()[i]));
    }
  }
  const auto beyond = std::ranges::count_if(sizes, [](double size) { return size > 1; });
  const auto all = static_cast<double>(std::max<std::size_t>(sizes.size(), 1));
  if (static_cast<double>(beyond) <= most_beyond * all) return 1;
  return std::max(quantile(std::move(sizes), nearly_all), 1.0);
}

std::string title_with_scale(std::string_view title, double scale) {
  return scale == 1 ? std::string(title) : fmt::format("{}, to ±{}", title, answer_number(scale));
}

std::string scale_words(double scale) {
  if (scale == 1) return "Colours from −1 to 1.";
  const std::string end = answer_number(scale);
  return fmt::format(
      "Colours from −{} to {}: a short key among long ones is answered with more than its own value.", end,
      end);
}

std::string answer_number(double value) {
  if (!std::isfinite(value)) return "none";
  const double size = std::abs(value);
  if (size < 9.995) return fmt::format("{:.2f}", value);
  if (size < 99.95) return fmt::format("{:.1f}", value);
  return size < 9999.5 ? fmt::format("{:.0f}", value) : fmt::format("{:.0e}", value);
}

float answer_names_width(const AnswerTable& table, float most) {
  const style::TextStyle text(style::Text::caption);
  float width = 0;
  for (const AskedWord& word : table.words)
    width = std::max(width, width_of_number(number_of(word)) +
                                text_extent(asked_part(visible_label(word.text))).x + px(10));
  return std::min(width, most);
}

std::string_view thick_frame_words(const AnswerTable& table) {
  const bool again = table.present && comes_again(table.words[static_cast<std::size_t>(*table.present)]);
  return again ? "the text at the cursor" : "the word at the cursor";
}

void draw_answer_names(const AnswerTable& table, ImVec2 corner, float names, float cell_height, float head) {
  const style::Palette& c = style::colours();
  const style::TextStyle text(style::Text::caption);
  for (Index i = 0; i < static_cast<Index>(table.words.size()); ++i) {
    const AskedWord& word = table.words[static_cast<std::size_t>(i)];
    const float number_width = width_of_number(number_of(word));
    const std::string label = shortened(asked_part(visible_label(word.text)), names - px(8) - number_width);
    const ImVec2 extent = text_extent(label);
    const float row_top = corner.y + head + static_cast<float>(i) * cell_height;
    draw_text({std::round(corner.x + names - px(8) - extent.x),
               std::round(row_top + cell_height / 2 - extent.y / 2)},
              word.is_present ? c.text : c.key, label);
    if (number_width > 0) {
      const style::TextStyle small(style::Text::number_small);
      const float height = text_extent("0").y;
      draw_text({std::round(corner.x + names - px(8) - extent.x - number_width),
                 std::round(row_top + (cell_height - height) / 2)},
                word.by_query ? c.query : c.dim, number_of(word));
    }
    const Rectangle name = {{corner.x, row_top}, {corner.x + names, row_top + cell_height}};
    if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(name.minimum, name.maximum))
      explain_row(table, i, name);
  }
}

std::optional<Cell> draw_answer_cells(const AnswerTable& table, const Matrix<double>& values,
                                      std::string_view title, ImVec2 corner, ImVec2 cell, float head,
                                      double scale) {
  const style::Palette& c = style::colours();
  const auto count = static_cast<Index>(table.words.size());
  const float width = cell.x * static_cast<float>(count);
  {
    const style::TextStyle text(style::Text::caption);
    const float line = text_extent("x").y;
    if (!title.empty()) {
      const std::string fitting = shortened(title, std::max(width, px(60)));
      draw_text({std::round(corner.x + (width - text_extent(fitting).x) / 2), corner.y}, c.text, fitting);
    }
    for (Index j = 0; j < count; ++j) {
      const AskedWord& word = table.words[static_cast<std::size_t>(j)];
      draw_column_name(
          word, {corner.x + static_cast<float>(j) * cell.x, corner.y + (title.empty() ? 0 : line + px(4))},
          cell.x - px(2));
    }
  }
  const float top = corner.y + head;
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < count; ++j) {
      draw_cell({corner.x + static_cast<float>(j) * cell.x, top + static_cast<float>(i) * cell.y}, cell,
                values(i, j), scale);
    }
  }
  const auto frame = [&](Index row, ImU32 colour, float line) {
    const float y = top + static_cast<float>(row) * cell.y;
    ImGui::GetWindowDrawList()->AddRect({corner.x - px(2), y - px(2)},
                                        {corner.x + width + px(1), y + cell.y + px(1)}, colour, px(3),
                                        px(line));
  };
  if (const auto changed = noticeably_changed(table)) frame(*changed, c.dim, style::line);
  if (table.present) frame(*table.present, c.text, style::lit_line);
  return hovered_cell({corner.x, top}, {width, cell.y * static_cast<float>(count)}, count, count,
                      ImGui::GetMousePos());
}

void explain_answer(const AnswerTable& table, std::string_view title, const Matrix<double>& values, Cell cell,
                    const Rectangle& pictures) {
  const AskedWord& asked = table.words[static_cast<std::size_t>(cell.row)];
  const AskedWord& found = table.words[static_cast<std::size_t>(cell.column)];
  const std::string words = fmt::format(
      "{}: asked {} “{}” (word {}), the answer has {} of the value of “{}”, fitted together with "
      "the others. After this step they explain {:.0f} % of that answer's direction.{}",
      title, asked.by_query ? "with the query of" : "as at", visible_label(asked.phrase), asked.token,
      fixed_number(values(cell.row, cell.column), 4), visible_label(found.text),
      100 * std::max(table.explained_after(cell.row), 0.0), mark_words(table, cell.row));
  tooltip_beside(pictures.minimum, pictures.maximum, words);
}

}  // namespace palimpsest
