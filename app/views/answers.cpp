#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/gl/context_local.h"
#include "app/studio/application.h"
#include "app/views/answers.h"
#include "app/views/panels.h"
#include "app/views/underlined_words.h"
#include "app/widgets/controls.h"
#include "app/widgets/heat_map.h"
#include "app/widgets/text.h"
#include "app/widgets/tooltip_place.h"

namespace palimpsest {

namespace {

using style::px;

constexpr double least_number = 0.1;   // smaller ones are colour alone
constexpr float small_number = 0.84F;  // of the usual size, where a number would not fit
constexpr float narrow_panel = 1100;   // design pixels
constexpr float between_tables = 44;
constexpr float between_narrow = 26;
constexpr float least_cell = 15;  // smaller tables cannot be read
constexpr float low_panel = 230;

/// The sizes of the panel's parts, in screen pixels.
struct Measures {
  bool is_narrow = false;  // what is said stands above the tables, else beside them
  float words = 0;         // width of what is said
  float names = 0;         // width of the words beside the rows
  float gap = 0;           // between the tables
  ImVec2 cell = {};
  float head = 0;  // height of what stands above the cells

  float tables(std::size_t count) const { return names + 2 * gap + 3 * cell.x * static_cast<float>(count); }
};

Measures measures(const AnswerTable& table, ImVec2 room) {
  Measures sizes{.is_narrow = room.x < px(narrow_panel)};
  sizes.words = sizes.is_narrow ? room.x : std::min(px(330), room.x * 0.3F);
  sizes.gap = px(sizes.is_narrow ? between_narrow : between_tables);
  {
    const style::TextStyle text(style::Text::caption);
    for (const AskedWord& word : table.words)
      sizes.names = std::max(sizes.names, text_extent(visible_label(word.text)).x + px(10));
    sizes.names = std::min(sizes.names, px(84));
    sizes.head = 2 * text_extent("x").y + px(8);
  }
  const auto count = static_cast<float>(std::max<std::size_t>(table.words.size(), 1));
  const float beside = sizes.is_narrow ? 0 : sizes.words + px(16);
  const float above = sizes.is_narrow ? ImGui::GetTextLineHeight() + px(6) : 0;
  const float width = room.x - beside - sizes.names - 2 * sizes.gap - px(4);
  const float height = room.y - above - sizes.head - px(2);
  sizes.cell.x = std::floor(std::min(px(52), width / (3 * count)));
  sizes.cell.y = std::floor(std::min({px(34), height / count, sizes.cell.x * 0.8F}));
  return sizes;
}

/// The other row that changes most, where one can see that.
std::optional<Index> noticeably_changed(const AnswerTable& table) {
  const auto& row = table.most_changed;
  const bool is_seen = row && !(table.change.row(*row).cwiseAbs().maxCoeff() < least_number);
  return is_seen ? row : std::nullopt;
}

/// One cell: its colour on the scale from -1 to 1, and its number where it says something.
void draw_cell(ImVec2 from, ImVec2 size, double value) {
  const Rgb8 paper = colour(style::colours().map, static_cast<float>(value), 1);
  const ImVec2 to = {from.x + size.x - px(1), from.y + size.y - px(1)};
  ImGui::GetWindowDrawList()->AddRectFilled(from, to, style::colour(paper));
  if (std::isfinite(value) && std::abs(value) < least_number) return;
  const std::string number = std::isfinite(value) ? fmt::format("{:.2f}", value) : std::string("none");
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

/// One of the tables with its title and the words above its columns. Returns the cell under the pointer.
std::optional<Cell> draw_table(const AnswerTable& table, const Matrix<double>& values, const char* title,
                               ImVec2 corner, const Measures& sizes) {
  const style::Palette& c = style::colours();
  const auto count = static_cast<Index>(table.words.size());
  const float width = sizes.cell.x * static_cast<float>(count);
  {
    const style::TextStyle text(style::Text::caption);
    const float line = text_extent("x").y;
    const std::string fitting = shortened(title, std::max(width, px(60)));
    draw_text({std::round(corner.x + (width - text_extent(fitting).x) / 2), corner.y}, c.text, fitting);
    for (Index j = 0; j < count; ++j) {
      const AskedWord& word = table.words[static_cast<std::size_t>(j)];
      draw_centred({corner.x + static_cast<float>(j) * sizes.cell.x, corner.y + line + px(4)},
                   sizes.cell.x - px(2), c.value, visible_label(word.text));
    }
  }
  const float top = corner.y + sizes.head;
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < count; ++j) {
      draw_cell({corner.x + static_cast<float>(j) * sizes.cell.x, top + static_cast<float>(i) * sizes.cell.y},
                sizes.cell, values(i, j));
    }
  }
  const auto frame = [&](Index row, ImU32 colour, float line) {
    const float y = top + static_cast<float>(row) * sizes.cell.y;
    ImGui::GetWindowDrawList()->AddRect({corner.x - px(2), y - px(2)},
                                        {corner.x + width + px(1), y + sizes.cell.y + px(1)}, colour, px(3),
                                        px(line));
  };
  if (const auto changed = noticeably_changed(table)) frame(*changed, c.dim, style::line);
  if (table.present) frame(*table.present, c.text, style::lit_line);
  return hovered_cell({corner.x, top}, {width, sizes.cell.y * static_cast<float>(count)}, count, count,
                      ImGui::GetMousePos());
}

void draw_sign(const char* sign, float middle, float y) {
  const style::TextStyle text(style::Text::title);
  const ImVec2 extent = text_extent(sign);
  draw_text({std::round(middle - extent.x / 2), std::round(y - extent.y / 2)}, style::colours().dim, sign);
}

/// What the frame of a row says; empty: it has none.
std::string_view mark_words(const AnswerTable& table, Index row) {
  if (row == table.present) return " Thick frame: the word at the cursor.";
  if (row == noticeably_changed(table)) return " Thin frame: the other word whose answer changes most.";
  return {};
}

/// What the name of a row stands for, for its tooltip.
void explain_row(const AnswerTable& table, Index row, const Rectangle& name) {
  const AskedWord& word = table.words[static_cast<std::size_t>(row)];
  const std::string words = fmt::format(
      "“{}” (word {}): the memory is asked with the key stored here, which carries the words before it.{}",
      visible_label(word.phrase), word.token, mark_words(table, row));
  tooltip_beside(name.minimum, name.maximum, words);
}

/// What the numbers of a row come to, for the tooltip of a cell.
void explain_cell(const AnswerTable& table, const char* title, const Matrix<double>& values, Cell cell,
                  const Rectangle& pictures) {
  const AskedWord& asked = table.words[static_cast<std::size_t>(cell.row)];
  const AskedWord& found = table.words[static_cast<std::size_t>(cell.column)];
  const std::string words = fmt::format(
      "{}: asked as at “{}” (word {}), the answer has {:.4f} of the value of “{}”. After this step these "
      "words' values make up {:.0f} % of that answer.{}",
      title, visible_label(asked.phrase), asked.token, values(cell.row, cell.column),
      visible_label(found.text), 100 * std::max(table.explained_after(cell.row), 0.0),
      mark_words(table, cell.row));
  tooltip_beside(pictures.minimum, pictures.maximum, words);
}

constexpr const char* how_to_read =
    "Row: the word whose key asks; the key carries the words before it. Column: how much of that word's "
    "value "
    "is in the answer. Thick frame: the word at the cursor; thin: the other that changes most. Colours from "
    "−1 to 1.";
constexpr const char* of_before = "Of the place before; this one is being computed.";

/// In one line above the tables; the rest in its tooltip.
void draw_line(const AnswersAtPlace& answers, bool is_old, float width) {
  const float left = ImGui::GetCursorPosX();
  {
    const style::TextStyle text(style::Text::strong);
    ImGui::TextUnformatted("What the memory answers.");
  }
  ImGui::SameLine(0, px(6));
  const std::string sentence =
      shortened(answers.sentence, std::max(width - (ImGui::GetCursorPosX() - left), px(20)));
  const style::TextStyle text(style::Text::body, is_old ? style::colours().dim : style::colours().text);
  ImGui::TextUnformatted(sentence.c_str());
  tooltip(fmt::format("{}{} {} {}", is_old ? std::string(of_before) + " " : std::string(), answers.sentence,
                      answers.output_sentence, how_to_read));
}

/// The question, the answer in a sentence, and how to read the tables.
void draw_words(const AnswersAtPlace& answers, bool is_old, float width) {
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width);
  {
    const style::TextStyle text(style::Text::strong);
    ImGui::TextUnformatted("What the memory answers");
  }
  ImGui::Dummy({0, px(2)});
  {
    const style::TextStyle text(style::Text::title);
    ImGui::TextWrapped("%s", answers.sentence.c_str());
  }
  ImGui::Dummy({0, px(2)});
  const style::TextStyle text(style::Text::caption, style::colours().dim);
  if (is_old) ImGui::TextWrapped("%s", of_before);
  ImGui::TextWrapped("%s", answers.output_sentence.c_str());
  ImGui::TextWrapped("%s", how_to_read);
  ImGui::PopTextWrapPos();
}

void draw_tables(const AnswersAtPlace& answers, ImVec2 corner, const Measures& sizes) {
  const style::Palette& c = style::colours();
  const AnswerTable& table = answers.table;
  const auto count = static_cast<float>(table.words.size());
  const float width = sizes.cell.x * count;
  {
    const style::TextStyle text(style::Text::caption);
    for (Index i = 0; i < static_cast<Index>(table.words.size()); ++i) {
      const AskedWord& word = table.words[static_cast<std::size_t>(i)];
      const std::string label = shortened(visible_label(word.text), sizes.names - px(8));
      const ImVec2 extent = text_extent(label);
      draw_text(
          {std::round(corner.x + sizes.names - px(8) - extent.x),
           std::round(corner.y + sizes.head + (static_cast<float>(i) + 0.5F) * sizes.cell.y - extent.y / 2)},
          word.is_present ? c.text : c.key, label);
      const float row_top = corner.y + sizes.head + static_cast<float>(i) * sizes.cell.y;
      const Rectangle name = {{corner.x, row_top}, {corner.x + sizes.names, row_top + sizes.cell.y}};
      if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(name.minimum, name.maximum))
        explain_row(table, i, name);
    }
  }
  const float first = corner.x + sizes.names;
  const float step = width + sizes.gap;
  const float middle = corner.y + sizes.head + sizes.cell.y * count / 2;
  const std::pair<const char*, const Matrix<double>*> parts[] = {
      {"before", &table.before}, {answers.change.c_str(), &table.change}, {"after", &table.after}};
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    const auto& [title, values] = parts[i];
    const float x = first + static_cast<float>(i) * step;
    if (i > 0) draw_sign(i == 1 ? "+" : "=", x - sizes.gap / 2, middle);
    const auto cell = draw_table(table, *values, title, {x, corner.y}, sizes);
    const Rectangle pictures = {{corner.x, corner.y},
                                {first + 2 * step + width, corner.y + sizes.head + sizes.cell.y * count}};
    if (cell && ImGui::IsWindowHovered()) explain_cell(table, title, *values, *cell, pictures);
  }
}

}  // namespace

AnswersMap& answers_map() { return context_local<AnswersMap>(); }

bool has_answers(const Application& application) {
  const Sight& sight = application.session.sight();
  return sight.computation && sight.trace && sight.trace->form == Form::recurrent &&
         sight.computation->variant->memory.none.empty();
}

void draw_answers(Application& application) {
  AnswersMap& map = answers_map();
  map = {};
  const bool is_low = ImGui::GetContentRegionAvail().y < px(low_panel);
  const bool visible =
      style::begin_panel("##answers", {0, 0}, 0, is_low ? style::low_padding : style::panel_padding);
  const Sight& sight = application.session.sight();
  if (visible && has_answers(application)) {
    const auto answer = application.session.answers().ask(
        MemoryAnswers{.of = sight.computation,
                      .form = sight.trace->form,
                      .cursor = sight.cursor,
                      .words = {.pinned = application.session.state().words}});
    if (answer.value) {
      std::vector<Index> asked;
      for (const AskedWord& word : answer.value->table.words) asked.push_back(word.token);
      std::ranges::sort(asked);
      name_words(std::move(asked));
      const ImVec2 corner = ImGui::GetCursorScreenPos();
      const ImVec2 room = ImGui::GetContentRegionAvail();
      const Measures sizes = measures(answer.value->table, room);
      if (sizes.is_narrow)
        draw_line(*answer.value, answer.stale, sizes.words);
      else
        draw_words(*answer.value, answer.stale, sizes.words);
      const bool fits = sizes.cell.x >= px(least_cell) && sizes.cell.y >= px(8);
      if (fits && !answer.value->table.words.empty()) {
        const float left = sizes.is_narrow ? 0 : sizes.words + px(16);
        const float top = sizes.is_narrow ? ImGui::GetTextLineHeight() + px(6) : 0;
        const float spare = room.x - left - sizes.tables(answer.value->table.words.size());
        draw_tables(*answer.value, {corner.x + left + std::max(spare / 2, 0.0F), corner.y + top}, sizes);
        map = {answer.value, sizes.cell, answer.stale};
      }
    } else if (answer.under_way) {
      style::caption("Asking the memory …");
    } else {
      style::caption("What the memory answers");
      style::paragraph(answer.reason);
    }
  }
  style::end_panel();
}

}  // namespace palimpsest
