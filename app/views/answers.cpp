#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "app/gl/context_local.h"
#include "app/studio/application.h"
#include "app/views/answer_cells.h"
#include "app/views/answers.h"
#include "app/views/asked_choice.h"
#include "app/views/panels.h"
#include "app/views/underlined_words.h"
#include "app/widgets/controls.h"
#include "app/widgets/heat_map.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float narrow_panel = 1100;  // design pixels
constexpr float between_tables = 44;
constexpr float between_narrow = 26;
constexpr float least_cell = 15;  // smaller tables cannot be read
constexpr float least_row = 8;
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
    sizes.names = answer_names_width(table, px(84));
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

void draw_sign(const char* sign, float middle, float y) {
  const style::TextStyle text(style::Text::title);
  const ImVec2 extent = text_extent(sign);
  draw_text({std::round(middle - extent.x / 2), std::round(y - extent.y / 2)}, style::colours().dim, sign);
}

constexpr const char* of_before = "Of the place before; this one is being computed.";

std::string how_to_read(const AnswerTable& table, const OutputAnswer& output) {
  const bool again =
      std::ranges::any_of(table.words, [](const AskedWord& word) { return word.occurrences.size() > 1; });
  const bool reads = std::ranges::any_of(table.words, &AskedWord::by_query);
  return fmt::format(
      "Row: the word whose key asks{}; the key carries the words before it.{} Column: how much of {} is in "
      "the "
      "answer. Thick frame: {}; thin: the other that changes most. {}{}",
      reads ? ", or at “q of” its query" : "",
      again ? " A word that comes again asks as at the number beside it." : "",
      again ? "all its values" : "that word's value", thick_frame_words(table),
      scale_words(answer_scale(table)), output.words.empty() ? "" : " Who was read, Attend shows.");
}

/// In one line above the tables; the rest in its tooltip.
void draw_line(const AnswersAtPlace& answers, bool is_old, float width) {
  const float left = ImGui::GetCursorPosX();
  {
    const style::TextStyle text(style::Text::strong);
    ImGui::TextUnformatted("What the memory answers.");
  }
  ImGui::SameLine(0, px(6));
  const float room = std::max(width - (ImGui::GetCursorPosX() - left), px(20));
  // In smaller letters where it does not fit.
  const bool is_long = [&] {
    const style::TextStyle text(style::Text::body);
    return text_extent(answers.sentence).x > room;
  }();
  const style::TextStyle text(is_long ? style::Text::caption : style::Text::body,
                              is_old ? style::colours().dim : style::colours().text);
  if (is_long) ImGui::SetCursorPosY(ImGui::GetCursorPosY() + px(1));
  ImGui::TextUnformatted(shortened(answers.sentence, room).c_str());
  tooltip(fmt::format("{}{} {} {}", is_old ? std::string(of_before) + " " : std::string(), answers.sentence,
                      answers.output_sentence, how_to_read(answers.table, answers.output)));
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
  if (!answers.output_sentence.empty()) ImGui::TextWrapped("%s", answers.output_sentence.c_str());
  ImGui::TextWrapped("%s", how_to_read(answers.table, answers.output).c_str());
  ImGui::PopTextWrapPos();
}

/// With the scale where there is room: all three tables have the same.
std::string fitting_title(std::string_view title, double scale, float width) {
  const style::TextStyle text(style::Text::caption);
  std::string whole = title_with_scale(title, scale);
  return text_extent(whole).x <= width ? whole : std::string(title);
}

/// Before, the change and after; where there is no room for all, what is answered after.
void draw_tables(const AnswersAtPlace& answers, ImVec2 corner, const Measures& sizes, bool is_alone) {
  const AnswerTable& table = answers.table;
  const auto count = static_cast<float>(table.words.size());
  const float width = sizes.cell.x * count;
  draw_answer_names(table, corner, sizes.names, sizes.cell.y, sizes.head);
  const float first = corner.x + sizes.names;
  const float step = width + sizes.gap;
  const float middle = corner.y + sizes.head + sizes.cell.y * count / 2;
  const double scale = answer_scale(table);
  const std::pair<const char*, const Matrix<double>*> all[] = {
      {"before", &table.before}, {answers.change.c_str(), &table.change}, {"after", &table.after}};
  const auto parts = std::span(all).last(is_alone ? 1 : std::size(all));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& [title, values] = parts[i];
    const float x = first + static_cast<float>(i) * step;
    if (i > 0) draw_sign(i == 1 ? "+" : "=", x - sizes.gap / 2, middle);
    const std::string_view head = is_alone ? "What the memory answers, after" : title;
    const auto cell = draw_answer_cells(table, *values, fitting_title(head, scale, width), {x, corner.y},
                                        sizes.cell, sizes.head, scale);
    const float right = first + static_cast<float>(parts.size() - 1) * step + width;
    const Rectangle pictures = {{corner.x, corner.y}, {right, corner.y + sizes.head + sizes.cell.y * count}};
    if (cell && ImGui::IsWindowHovered()) explain_answer(table, title, *values, *cell, pictures);
  }
}

/// In a small panel, or a much enlarged one: the sentence in full and one table, to be scrolled. Returns how
/// large its cells are.
ImVec2 draw_small(const AnswersAtPlace& answers, bool is_old, Measures sizes, float width) {
  const auto count = static_cast<float>(answers.table.words.size());
  sizes.cell.x = std::floor(std::min(px(52), (width - sizes.names - px(4)) / count));
  sizes.cell.y = std::floor(std::min(px(18), sizes.cell.x * 0.8F));
  {
    const style::TextStyle text(style::Text::caption, is_old ? style::colours().dim : style::colours().text);
    ImGui::TextWrapped("%s", answers.sentence.c_str());
    tooltip(how_to_read(answers.table, answers.output));
  }
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  draw_tables(answers, corner, sizes, true);
  ImGui::Dummy({sizes.names + sizes.cell.x * count, sizes.head + sizes.cell.y * count + px(2)});
  return sizes.cell;
}

}  // namespace

AnswersMap& answers_map() { return context_local<AnswersMap>(); }

bool has_answers(const Application& application) {
  const Sight& sight = application.session.sight();
  if (!sight.computation || !sight.trace || sight.trace->form != Form::recurrent) return false;
  const MemoryAccess& memory = sight.computation->variant->memory;
  return memory.none.empty() || memory.answers;  // softmax shares no state, but its cache answers
}

void draw_answers(Application& application) {
  AnswersMap& map = answers_map();
  map = {};
  const bool is_low = ImGui::GetContentRegionAvail().y < px(low_panel);
  const bool visible =
      style::begin_panel("##answers", {0, 0}, 0, is_low ? style::low_padding : style::panel_padding);
  const Sight& sight = application.session.sight();
  if (visible && has_answers(application)) {
    const auto answer =
        application.session.questions().ask(MemoryAnswers{.of = sight.computation,
                                                          .form = sight.trace->form,
                                                          .cursor = sight.cursor,
                                                          .words = asked_choice(application.session).words});
    if (answer.value) {
      std::vector<Index> asked;
      for (const AskedWord& word : answer.value->table.words) asked.push_back(word.token);
      std::ranges::sort(asked);
      name_words(std::move(asked));
      const ImVec2 corner = ImGui::GetCursorScreenPos();
      const ImVec2 room = ImGui::GetContentRegionAvail();
      const Measures sizes = measures(answer.value->table, room);
      const bool has_words = !answer.value->table.words.empty();
      const bool fits = sizes.cell.x >= px(least_cell) && sizes.cell.y >= px(least_row);
      ImVec2 cell = sizes.cell;
      if (has_words && !fits)
        cell = draw_small(*answer.value, answer.stale, sizes, room.x);
      else if (sizes.is_narrow)
        draw_line(*answer.value, answer.stale, sizes.words);
      else
        draw_words(*answer.value, answer.stale, sizes.words);
      if (has_words && fits) {
        const float left = sizes.is_narrow ? 0 : sizes.words + px(16);
        const float top = sizes.is_narrow ? ImGui::GetTextLineHeight() + px(6) : 0;
        const float spare = room.x - left - sizes.tables(answer.value->table.words.size());
        draw_tables(*answer.value, {corner.x + left + std::max(spare / 2, 0.0F), corner.y + top}, sizes,
                    false);
      }
      if (has_words) map = {answer.value, cell, answer_scale(answer.value->table), answer.stale};
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
