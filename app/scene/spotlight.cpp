#include "app/scene/spotlight.h"

#include "app/widgets/chart.h"
#include "app/widgets/text.h"

namespace palimpsest::scene {

namespace {

using style::px;

// In design pixels.
constexpr float around_spot = 6;
constexpr float spot_corner = 8;
constexpr float disc = 22;
constexpr float corner = 13;  // of a marked cell
constexpr float dash = 4;
constexpr float dimmed[] = {0.66F, 0.72F};  // opacity of the cover in the dark and in the light theme

/// The places of parts, as far as they are seen: empty where one is scrolled away.
std::vector<Rectangle> places_of(const std::vector<std::string>& paths, float around) {
  std::vector<Rectangle> places;
  for (const std::string& path : paths) {
    const Part* const part = parts().find(path);
    if (!part) continue;
    Rectangle& place = places.emplace_back(part->where.grown({around, around}));
    if (!part->scrolls || part->is_whole()) continue;
    place = {upper_of(place.minimum, part->seen.minimum), lower_of(place.maximum, part->seen.maximum)};
    if (place.size().x <= 0 || place.size().y <= 0) place = {};
  }
  return places;
}

/// Covers everything but `open`: their edges cut the window into cells, each inside of one or outside of all.
void cover(ImDrawList* list, const std::vector<Rectangle>& open, ImU32 ink) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  std::set<float> xs = {viewport->Pos.x, viewport->Pos.x + viewport->Size.x};
  std::set<float> ys = {viewport->Pos.y, viewport->Pos.y + viewport->Size.y};
  for (const Rectangle& each : open) {
    xs.insert({each.minimum.x, each.maximum.x});
    ys.insert({each.minimum.y, each.maximum.y});
  }
  for (auto y = ys.begin(); std::next(y) != ys.end(); ++y) {
    for (auto x = xs.begin(); std::next(x) != xs.end(); ++x) {
      const Rectangle cell = {{*x, *y}, {*std::next(x), *std::next(y)}};
      if (std::ranges::none_of(open, [&](const Rectangle& each) { return each.holds(cell); }))
        list->AddRectFilled(cell.minimum, cell.maximum, ink);
    }
  }
}

/// Whether a card or a menu is open, which stays in front.
bool is_covered() { return ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup); }

}  // namespace

bool draw_spotlight(const Spotlight& light) {
  const std::vector<Rectangle> spots = places_of(light.spots, px(around_spot));
  if (spots.empty() || is_covered()) return false;
  std::vector<Rectangle> open = places_of(light.kept, px(style::panel_padding));
  open.insert(open.end(), spots.begin(), spots.end());
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetForegroundDrawList();
  if (light.dims) cover(list, open, style::with_alpha(c.background, entry(dimmed, style::theme())));
  const style::TextStyle letters(style::Text::strong);
  for (std::size_t i = 0; i < spots.size(); ++i) {
    const auto& [from, to] = spots[i];
    if (from == to) continue;
    list->AddRect(from, to, c.text, px(spot_corner), px(style::lit_line));
    list->AddCircleFilled(from, px(disc) / 2, c.text);
    const std::string number = std::to_string(i + 1);
    list->AddText(rounded(from - text_extent(number) / 2), c.panel, number.c_str());
  }
  const ImVec2 pointer = ImGui::GetMousePos();
  return ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
         std::ranges::none_of(open, [&](const Rectangle& each) {
           return each.holds({pointer, pointer});
         });
}

std::optional<std::pair<Index, Index>> draw_marks(const MarkedCells& cells) {
  const Part* const part = parts().find(cells.table);
  if (!part || cells.rows < 1 || cells.columns < 1 || is_covered()) return std::nullopt;
  const ImVec2 size =
      part->where.size() / ImVec2{static_cast<float>(cells.columns), static_cast<float>(cells.rows)};
  const auto place = [&](const std::pair<Index, Index>& cell) {
    const ImVec2 at = {static_cast<float>(cell.second), static_cast<float>(cell.first)};
    return box_at(part->where.minimum + size * at, size - ImVec2(1, 1)).grown({-1, -1});
  };
  const style::Palette& c = style::colours();
  ImDrawList* list = ImGui::GetForegroundDrawList();
  for (const auto& cell : cells.marked) {
    const auto& [from, to] = place(cell);
    const ImU32 ink = !cells.right ? c.text : cells.right->contains(cell) ? c.good : c.alarm;
    list->AddRect(from, to, ink, 0, px(style::lit_line));
    list->AddTriangleFilled(from, {from.x + px(corner), from.y}, {from.x, from.y + px(corner)}, ink);
  }
  if (cells.right) {
    for (const auto& cell : *cells.right) {
      if (!cells.marked.contains(cell))
        dashed_outline(list, place(cell), c.text, px(style::lit_line), px(dash));
    }
  } else if (cells.cursor) {
    const auto& [from, to] = place(*cells.cursor);
    list->AddRect(from, to, c.accent, 0, px(style::lit_line));
  }
  const ImVec2 pointer = ImGui::GetMousePos();
  if (!ImGui::IsMouseClicked(ImGuiMouseButton_Left) || !part->where.holds({pointer, pointer}))
    return std::nullopt;
  const ImVec2 inside = (pointer - part->where.minimum) / size;
  return std::pair{std::min(static_cast<Index>(inside.y), cells.rows - 1),
                   std::min(static_cast<Index>(inside.x), cells.columns - 1)};
}

}  // namespace palimpsest::scene
