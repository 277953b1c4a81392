#include "app/views/form_costs.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/gl/context_local.h"
#include "app/session/cost_questions.h"
#include "app/studio/application.h"
#include "app/studio/command.h"
#include "app/views/form_words.h"
#include "app/widgets/controls.h"
#include "app/widgets/paragraph_height.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

// In design pixels.
constexpr float names_width = 68;
constexpr float title_height = 16;
constexpr float row_height = 24;
constexpr float bar_height = 4;
constexpr float column_gap = 8;

/// What is counted, and how it is said.
struct Column {
  float from;  // parts of the width: bytes are written with their unit
  float to;
  const char* title;
  const char* explained;
  double (*value)(const CostRow& row);
  std::string (*words)(double value);
};

const std::array<Column, 3> columns = {{
    {0, 0.3F, "FLOPs", "Multiplications and additions for a word, counted.",
     [](const CostRow& row) { return row.flops; }, in_thousands},
    {0.3F, 0.72F, "bytes",
     "Read and written for a word in float32, counted: a state is written back after every block.",
     [](const CostRow& row) { return row.bytes; }, in_bytes},
    {0.72F, 1, "in a row", "Steps that wait for the one before: words, chunks, or one for all.",
     [](const CostRow& row) { return static_cast<double>(row.steps); }, in_thousands},
}};

/// Why a form costs what it costs.
std::string explained(const std::vector<CostRow>& rows, const CostRow& row, bool of_one_word) {
  if (!row.missing.empty()) return row.missing;
  switch (row.form) {
    case Form::recurrent:
      return "One step for every word, each waiting for the one before; the state is fetched and written "
             "back "
             "every time.";
    case Form::chunkwise:
      if (const auto other = std::ranges::find(rows, Form::recurrent, &CostRow::form);
          of_one_word && other != rows.end())
        return one_word_words(row.flops, other->flops, false);
      return "The words of a chunk at once, by matrix products; the state is fetched and written back once a "
             "chunk.";
    case Form::two_pass: {
      const auto other = std::ranges::find(rows, Form::chunkwise, &CostRow::form);
      return two_pass_words(other == rows.end() || row.flops > other->flops || row.bytes > other->bytes);
    }
    case Form::parallel:
      break;
  }
  return "All words at once: every word looks at every word before it, so FLOPs grow with the text.";
}

/// Where a column begins, and what it has.
std::pair<float, float> place_of(const Column& column, float first, float room) {
  return {std::round(first + column.from * (room - first)),
          std::floor((column.to - column.from) * (room - first))};
}

void draw_titles(ImVec2 from, float first, float room) {
  const style::TextStyle text(style::Text::caption);
  for (const Column& column : columns) {
    const auto [left, width] = place_of(column, first, room);
    const ImVec2 at = {from.x + left, from.y};
    draw_text(at, style::colours().dim, shortened(column.title, width));
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy({width - px(column_gap), px(title_height)});
    tooltip(column.explained);
  }
}

void draw_row(const CostRow& row, const std::array<double, 3>& most, ImVec2 from, float first, float room,
              ImU32 ink) {
  const style::Palette& c = style::colours();
  const style::TextStyle number(style::Text::number_small);
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (!row.missing.empty()) {
    draw_text({from.x + first, from.y}, c.faint, "–");
    return;
  }
  std::string all;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const double value = columns[i].value(row);
    const auto [start, width] = place_of(columns[i], first, room);
    const float left = std::round(from.x + start);
    const std::string words = columns[i].words(value);
    const ImVec2 extent = text_extent(words);
    draw_text({left, from.y}, ink, words);
    const float top = std::round(from.y + px(row_height - bar_height - 3));
    const float part = most[i] > 0 ? static_cast<float>(value / most[i]) : 0;
    const float right = left + std::max(std::round((width - px(column_gap)) * part), 1.0F);
    list->AddRectFilled({left, top}, {right, top + px(bar_height)}, ink);
    cost_map().numbers.push_back({{left, from.y}, {left + extent.x, from.y + extent.y}});
    cost_map().bars.push_back({{left, top}, {right, top + px(bar_height)}});
    all += (i > 0 ? " · " : "") + words;
  }
  cost_map().forms.push_back(fmt::format("{}: {}", form_label(row.form), all));
}

}  // namespace

CostMap& cost_map() { return context_local<CostMap>(); }

namespace {

/// `value` in the first unit of which there are fewer than `base`, with three digits, or four of a whole one.
std::string in_units(double value, double base, std::initializer_list<const char*> units) {
  const char* last = *(units.end() - 1);
  for (const char* unit : units) {
    if (unit == *units.begin() && std::round(value) < base) return fmt::format("{:.0f}{}", value, unit);
    if (unit == last || std::round(value) < base)
      return fmt::format("{:.{}g}{}", value, value < 999.5 ? 3 : 4, unit);
    value /= base;
  }
  return {};
}

}  // namespace

std::string in_thousands(double value) { return in_units(value, 1000, {"", "k", "M", "G"}); }

std::string in_bytes(double value) { return in_units(value, 1024, {" B", " KiB", " MiB", " GiB"}); }

std::string two_pass_words(bool takes_more) {
  return takes_more
             ? "Two-pass takes what Chunkwise takes, and more: the second pass makes the decays again and "
               "fetches every chunk's state. For that all outputs come at once."
             : "Two-pass counts the same FLOPs and bytes as Chunkwise here: its second pass has nothing "
               "to fetch again.";
}

std::string one_word_words(double chunkwise, double recurrent, bool has_scores) {
  if (chunkwise == recurrent)
    return fmt::format("One word in a chunk counts what the recurrent form counts: {} FLOPs.",
                       in_thousands(recurrent));
  return fmt::format(
      "C = 1 counts {} FLOPs, the recurrent form {}: a chunk of one word {}.", in_thousands(chunkwise),
      in_thousands(recurrent),
      has_scores ? "still makes its scores (1 × 1) and products with them" : "is still computed as a chunk");
}

std::string what_costs_mean(const std::vector<CostRow>& rows) {
  bool differ = false;
  bool buys = false;   // fewer steps for more FLOPs
  bool saves = false;  // fewer steps for no more
  for (const CostRow& one : rows) {
    for (const CostRow& other : rows) {
      if (!one.missing.empty() || !other.missing.empty()) continue;
      differ = differ || one.flops != other.flops || one.bytes != other.bytes || one.steps != other.steps;
      buys = buys || (one.flops > other.flops && one.steps < other.steps);
      saves = saves || (one.flops <= other.flops && one.steps < other.steps);
    }
  }
  constexpr const char* on_a_gpu =
      " in a row: on a GPU a step waits for the one before, the FLOPs of one step do not.";
  if (buys) return std::string("For a word. More FLOPs buy fewer steps") + on_a_gpu;
  if (saves) return std::string("For a word. The same FLOPs or fewer take fewer steps") + on_a_gpu;
  if (!differ && std::ranges::count(rows, "", &CostRow::missing) > 1)
    return "For a word. Every form takes the same here.";
  return "For a word.";
}

void draw_form_costs(Application& application, bool has_title) {
  const auto computation = application.session.computed();
  if (!computation) return;
  const auto answer = application.session.questions().ask(
      FormCosts{computation, application.session.choice().chunk_size}, Urgency::later);
  if (has_title) style::caption("What it costs");
  if (!answer.value) {
    style::caption(answer.reason.empty() ? "is being counted" : answer.reason);
    return;
  }
  const std::vector<CostRow>& rows = *answer.value;
  const std::string meaning = what_costs_mean(rows);
  if (has_title) tooltip(meaning);
  const style::Palette& c = style::colours();
  std::array<double, 3> most = {};
  for (const CostRow& row : rows) {
    for (std::size_t i = 0; i < columns.size() && row.missing.empty(); ++i)
      most[i] = std::max(most[i], columns[i].value(row));
  }
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x;
  const float first = px(names_width);
  draw_titles(from, first, room);
  float y = from.y + px(title_height);
  for (const CostRow& row : rows) {
    ImGui::SetCursorScreenPos({from.x, y});
    const bool present = application.session.choice().form == row.form;
    const bool pressed =
        ImGui::InvisibleButton(fmt::format("{} cost", form_label(row.form)).c_str(), {room, px(row_height)});
    if (pressed) perform(find_command(application, fmt::format("form.{}", name(row.form))), application);
    const bool lit = present || ImGui::IsItemHovered();
    if (wants_tooltip()) tooltip(explained(rows, row, application.session.choice().chunk_size == 1));
    {
      const style::TextStyle text(style::Text::caption);
      draw_text({from.x, y}, lit ? c.text : c.dim, form_label(row.form));
    }
    draw_row(row, most, {from.x, y}, first, room, lit ? c.text : c.dim);
    y += px(row_height);
  }
  ImGui::SetCursorScreenPos({from.x, y});
  if (style::caption_height(meaning) <= ImGui::GetContentRegionAvail().y) style::caption(meaning);
  ImGui::PopStyleVar();
}

}  // namespace palimpsest
