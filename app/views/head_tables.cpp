#include "app/views/head_tables.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/session/memory_questions.h"
#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "app/widgets/heat_map.h"
#include "app/widgets/text.h"

namespace palimpsest {

namespace {

using style::px;

constexpr Index most_heads = 16;
constexpr Index most_run = 32768;    // of all heads together: each of them is run through by half
constexpr float largest_table = 44;  // design pixels
constexpr float smallest_table = 38;
constexpr float table_gap = 6;
constexpr float table_name_height = 18;

/// The cells of a table on the scale from -1 to 1, in whole pixels.
void draw_cells(const Matrix<double>& table, ImVec2 from, float size) {
  const auto edge = [&](Index i, Index count) {
    return std::round(size * static_cast<float>(i) / static_cast<float>(count));
  };
  for (Index i = 0; i < table.rows(); ++i) {
    for (Index j = 0; j < table.cols(); ++j) {
      const ImVec2 corner = {from.x + edge(j, table.cols()), from.y + edge(i, table.rows())};
      const ImVec2 end = {from.x + edge(j + 1, table.cols()), from.y + edge(i + 1, table.rows())};
      ImGui::GetWindowDrawList()->AddRectFilled(
          corner, end, style::colour(colour(style::colours().map, static_cast<float>(table(i, j)), 1)));
    }
  }
}

std::string words_of(Index index, const HeadAnswers& head) {
  if (!head.reason.empty()) return fmt::format("Head {}: {}", index, head.reason);
  std::string asked;
  for (const AskedWord& word : head.table.words)
    asked += fmt::format("{}“{}”", asked.empty() ? "" : ", ", visible_label(word.text));
  if (asked.empty()) return fmt::format("Head {}: there are no words to ask about yet.", index);
  return fmt::format(
      "Head {}: what its memory answers after half of the words. Rows: asked with the key of {}; columns: "
      "how "
      "much of their values is in the answer. Legible {:.2f} of 1: the diagonal against the rest.",
      index, asked, head.legibility);
}

/// One head, whose table may still be on its way; true when it was clicked.
bool picture(Index index, const HeadAnswers* head, float side, bool present, bool stale) {
  const style::Palette& c = style::colours();
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const bool clicked =
      ImGui::InvisibleButton(std::to_string(index).c_str(), {side, side + px(table_name_height)});
  const bool is_lit = ImGui::IsItemHovered() || ImGui::IsItemFocused();
  const ImVec2 to = {from.x + side, from.y + side};
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(from, to, style::mix(c.panel, c.background, 0.6F));
  if (head && head->reason.empty())
    draw_cells(head->table.after, from, side);
  else if (head)
    hatch(list, from, to, style::mix(c.panel, c.edge, 0.8F));
  if (stale) list->AddRectFilled(from, to, style::with_alpha(c.panel, 0.4F));
  list->AddRect({from.x - 1, from.y - 1}, {to.x + 1, to.y + 1},
                present  ? c.text
                : is_lit ? c.dim
                         : c.edge,
                0, px(present ? style::lit_line : style::line));
  float index_width = 0;
  {
    const style::TextStyle text(style::Text::caption);
    draw_text({from.x, to.y + px(2)}, present || is_lit ? c.text : c.dim, std::to_string(index));
    index_width = std::max(text_extent(std::to_string(index)).x, text_extent("0").x);
  }
  if (head && head->reason.empty()) {
    const style::TextStyle text(style::Text::number_small);
    std::string legible = fmt::format("{:.2f}", head->legibility);
    // ".56" where "0.56" would run into the number of the head.
    const bool is_narrow = text_extent("-0.88").x > side - index_width - px(3);
    if (const std::size_t zero = legible.find("0."); is_narrow && zero < 2) legible.erase(zero, 1);
    draw_text({to.x - text_extent(legible).x, to.y + px(3)}, c.dim, legible);
  }
  if (head) tooltip(words_of(index, *head));
  return clicked;
}

}  // namespace

bool has_head_tables(const Session& session) {
  const DataSet& data = session.data();
  return session.computed() && data.batches == 1 && data.heads > 1 && data.heads <= most_heads &&
         data.heads * data.tokens <= most_run;
}

std::optional<Index> head_tables(Application& application) {
  Session& session = application.session;
  HeadTables key;
  key.of = session.computed();
  const Known<TablesOfHeads> answer = session.questions().ask(key, Urgency::later);
  const Index count = session.data().heads;
  const float width = ImGui::GetContentRegionAvail().x;
  const float in_one_row = (width + px(table_gap)) / static_cast<float>(count) - px(table_gap);
  const float side = std::floor(std::clamp(in_one_row, px(smallest_table), px(largest_table)));
  const auto in_row =
      static_cast<Index>(std::max(std::floor((width + px(table_gap)) / (side + px(table_gap))), 1.0F));
  std::optional<Index> clicked;
  ImGui::PushID("head");
  for (Index index = 0; index < count; ++index) {
    if (index % in_row != 0) ImGui::SameLine(0, px(table_gap));
    const auto place = static_cast<std::size_t>(index);
    const bool is_there = answer.value && place < answer.value->heads.size();
    if (picture(index, is_there ? &answer.value->heads[place] : nullptr, side, index == session.choice().head,
                answer.stale))
      clicked = index;
  }
  ImGui::PopID();
  ImGui::Dummy({0, px(2)});
  return clicked;
}

namespace {

// In design pixels.
constexpr float smallest_side = 104;
constexpr float largest_side = 196;
constexpr float gap = 16;
constexpr float strip_height = 24;  // the height of a row of bars
constexpr float strip_gap = 4;
constexpr float name_height = 22;

constexpr double highest_strength = 2;  // of beta |k|^2, where a memory begins to grow

/// A bar for each token, as high as its part of `full`; NaN has none.
void bars(ImVec2 from, float width, const std::vector<double>& values, double full, ImU32 colour) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const style::Palette& c = style::colours();
  const float height = style::px(strip_height);
  const float bottom = from.y + height;
  list->AddRectFilled(from, {from.x + width, bottom}, style::mix(c.panel, c.edge, 0.35F));
  const auto count = static_cast<float>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double part = std::clamp(values[i] / full, 0.0, 1.0);
    if (!(part > 0)) continue;
    const float left = from.x + width * static_cast<float>(i) / count;
    const float right = from.x + width * static_cast<float>(i + 1) / count;
    const float top = bottom - height * static_cast<float>(part);
    list->AddRectFilled({left, top}, {std::max(right - (right - left) * 0.2F, left + 1), bottom}, colour);
  }
}

std::string word(const PreviewedData& preview, Index token) {
  return visible_label(preview.data->labels[static_cast<std::size_t>(token)]);
}

/// "key × drum: cosine 0.83" of the cell under the pointer.
void explain(const PreviewedData& preview, const HeadPreview& head, ImVec2 from, float side) {
  const auto cell =
      hovered_cell(from, {side, side}, head.similarity.rows(), head.similarity.cols(), ImGui::GetMousePos());
  if (!cell) return;
  std::string words = fmt::format("Keys of “{}” (token {}) and “{}” (token {}): cosine {:.2f}",
                                  word(preview, cell->row), cell->row, word(preview, cell->column),
                                  cell->column, head.similarity(cell->row, cell->column));
  tooltip_beside(from, {from.x + side, from.y + side}, words);
}

/// The same for the word whose bars are under the pointer.
void explain_bars(const PreviewedData& preview, const HeadPreview& head, float left, float width) {
  const float part = (ImGui::GetMousePos().x - left) / width;
  const auto tokens = static_cast<float>(preview.tokens);
  const auto token = static_cast<std::size_t>(std::clamp(part * tokens, 0.0F, tokens - 1));
  std::string words = fmt::format("“{}”, token {}", word(preview, static_cast<Index>(token)), token);
  if (!head.strength.empty()) words += fmt::format(": β‖k‖² = {:.3f}", head.strength[token]);
  if (!head.kept.empty())
    words += fmt::format("{} α = {:.3f}", head.strength.empty() ? ":" : ",", head.kept[token]);
  tooltip_beside(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(), words);
}

/// One head; true when it was clicked.
bool picture(const PreviewedData& preview, std::size_t index, float side, bool present) {
  const HeadPreview& head = preview.heads[index];
  const style::Palette& c = style::colours();
  const std::string name = fmt::format("head {}", index);
  const int strips = (head.strength.empty() ? 0 : 1) + (head.kept.empty() ? 0 : 1);
  const float strips_height = static_cast<float>(strips) * style::px(strip_height + strip_gap);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const ImVec2 size = {side, style::px(name_height) + side + strips_height};
  const bool clicked = ImGui::InvisibleButton(name.c_str(), size);
  const bool hovered = ImGui::IsItemHovered() || ImGui::IsItemFocused();
  {
    const style::TextStyle text(present ? style::Text::strong : style::Text::caption);
    draw_text(from, present || hovered ? c.text : c.dim, name);
  }
  const ImVec2 square = {from.x, from.y + style::px(name_height)};
  heat_map(fmt::format("preview {}", index), head.similarity, preview.version, square, {side, side},
           {.range = 1, .grid = false});
  ImGui::GetWindowDrawList()->AddRect(square, {square.x + side, square.y + side},
                                      present   ? c.text
                                      : hovered ? c.dim
                                                : c.edge,
                                      0, style::px(present ? style::lit_line : style::line));
  ImVec2 below = {square.x, square.y + side + style::px(strip_gap)};
  if (!head.strength.empty()) {
    bars(below, side, head.strength, highest_strength, c.strength);
    below.y += style::px(strip_height + strip_gap);
  }
  if (!head.kept.empty()) {
    std::vector<double> lost;
    for (const double kept : head.kept) lost.push_back(1 - kept);
    bars(below, side, lost, 1, c.gate);
  }
  if (ImGui::IsItemHovered()) {
    explain(preview, head, square, side);
    if (ImGui::GetMousePos().y >= square.y + side && strips > 0) explain_bars(preview, head, square.x, side);
  }
  return clicked;
}

void legends(const PreviewedData& preview) {
  const style::Palette& c = style::colours();
  const bool is_cut = preview.tokens < preview.data->tokens;
  style::caption(
      fmt::format("Words against words{}: how alike their keys are (cosine, −1 to 1). What is written at one "
                  "word comes back "
                  "in part at all that are like it.",
                  is_cut ? fmt::format(", the first {} of {}", preview.tokens, preview.data->tokens) : ""));
  const auto any = [&](const auto& has) { return std::ranges::any_of(preview.heads, has); };
  if (any([](const HeadPreview& head) { return !head.strength.empty(); }))
    style::legend(c.strength, "β‖k‖², how much each word corrects: full height is 2");
  if (any([](const HeadPreview& head) { return !head.kept.empty(); }))
    style::legend(c.gate, "1 − α, how much is forgotten at each word: full height is all");
}

}  // namespace

std::optional<Index> head_pictures(const PreviewedData& preview, Index present) {
  std::optional<Index> clicked;
  const float width = ImGui::GetContentRegionAvail().x;
  const auto count = static_cast<float>(preview.heads.size());
  const float most_in_row =
      std::max(std::floor((width + style::px(gap)) / style::px(smallest_side + gap)), 1.0F);
  const float in_row = std::min(count, most_in_row);
  const float room = (width - (in_row - 1) * style::px(gap)) / in_row;
  const float side = std::floor(std::min(room, style::px(largest_side)));
  for (std::size_t i = 0; i < preview.heads.size(); ++i) {
    if (i % static_cast<std::size_t>(in_row) != 0) ImGui::SameLine(0, style::px(gap));
    const auto head = static_cast<Index>(i);
    if (picture(preview, i, side, head == present)) clicked = head;
  }
  if (const Index all = preview.data->heads * preview.data->batches;
      all > static_cast<Index>(preview.heads.size()))
    style::caption(fmt::format("The first {} of {} heads.", preview.heads.size(), all));
  legends(preview);
  return clicked;
}

}  // namespace palimpsest
