#include "app/views/head_pictures.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/widgets/controls.h"
#include "app/widgets/heat_map.h"
#include "app/widgets/text.h"
#include "app/widgets/tooltip_place.h"

namespace palimpsest {

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
