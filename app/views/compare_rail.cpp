#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/session/compared_sides.h"
#include "app/studio/command.h"
#include "app/views/compare.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "core/variants/rail.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float buttons_width = 132;
constexpr float line_from_top = 38;  // of the rail, in the panel
constexpr float dot = 5;
constexpr double near_a_stop = 0.06;  // the handle stays at it

/// Where the rail lies on the screen.
struct Track {
  ImVec2 from;  // the first stop
  float step;   // from one to the next

  float x(double place) const { return from.x + static_cast<float>(place) * step; }
  double place(float at) const {
    const auto last = static_cast<double>(rail().size() - 1);
    const double place = std::clamp(static_cast<double>((at - from.x) / step), 0.0, last);
    const double stop = std::round(place);
    return std::abs(place - stop) < near_a_stop ? stop : place;
  }
};

/// `words` in at most two centred lines; what they take.
Rectangle draw_two_lines(ImVec2 top, float width, ImU32 colour, std::string_view words) {
  const float height = text_extent("x").y;
  const auto line = [&](std::string_view part, float y) {
    const std::string shown = shortened(part, width);
    const float extent = text_extent(shown).x;
    draw_text({std::round(top.x - extent / 2), y}, colour, shown);
    return extent;
  };
  float extent = text_extent(words).x;
  std::size_t cut = std::string_view::npos;
  if (extent > width) {
    for (std::size_t space = words.find(' '); space != std::string_view::npos;
         space = words.find(' ', space + 1)) {
      if (text_extent(words.substr(0, space)).x <= width) cut = space;
    }
  }
  if (cut == std::string_view::npos) {
    extent = line(words, top.y);
    return {{top.x - extent / 2, top.y}, {top.x + extent / 2, top.y + height}};
  }
  extent = std::max(line(words.substr(0, cut), top.y), line(words.substr(cut + 1), top.y + height));
  return {{top.x - extent / 2, top.y}, {top.x + extent / 2, top.y + 2 * height}};
}

void move_side(Application& application, std::size_t index, double place, std::string_view merge_key) {
  const SessionState& state = application.session.state();
  const Side moved = moved_on_rail(compared_sides(state)[index], place);
  SessionState next = with_side_as(state, index, moved);
  next.compare.handle = index;
  if (!(next == state)) application.session.change(std::move(next), merge_key);
}

/// A stop: its name, its words, and a place to click, which brings the handle there.
void draw_stop(Application& application, const ComparedSides& all, const Track& track, std::size_t stop) {
  const style::Palette& c = style::colours();
  const RailStop& each = rail()[stop];
  const float x = track.x(static_cast<double>(stop));
  const float width = track.step - px(8);
  const bool is_shown = std::ranges::any_of(all.sides, [&](const ComparedSide& side) {
    return place_on_rail(side.side) == static_cast<double>(stop);
  });
  CompareMap& map = compare_map();
  map.stops.push_back({x, track.from.y});
  ImGui::SetCursorScreenPos({x - width / 2, track.from.y - px(30)});
  const bool pressed = ImGui::InvisibleButton(each.variant, {width, px(22)});
  const bool is_lit = ImGui::IsItemHovered();
  tooltip(fmt::format("Bring the handle here: {}.", each.words));
  {
    const auto fits = [&](style::Text letters) {
      const style::TextStyle text(letters);
      return text_extent(each.name).x <= width;
    };
    const style::Text usual = is_shown ? style::Text::strong : style::Text::body;
    const style::TextStyle text(fits(usual) ? usual : style::Text::caption);
    const std::string name = shortened(each.name, width);
    draw_text({std::round(x - text_extent(name).x / 2), track.from.y - px(29)},
              is_shown || is_lit ? c.text : c.dim, name);
  }
  {
    const style::TextStyle text(style::Text::caption);
    map.stop_words.push_back(
        draw_two_lines({x, track.from.y + px(12)}, width, is_shown ? c.text : c.dim, each.words));
  }
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddCircleFilled({x, track.from.y}, px(dot), c.panel);
  list->AddCircle({x, track.from.y}, px(dot), is_lit ? c.text : c.dim, 0, px(style::lit_line));
  if (!pressed) return;
  const auto handle = std::ranges::find(all.sides, true, &ComparedSide::has_handle);
  move_side(application, handle->index, static_cast<double>(stop), {});
}

/// A side where it stands; the one with the handle is dragged by it.
void draw_side_on_rail(Application& application, const ComparedSide& side, const Track& track) {
  const std::optional<double> place = place_on_rail(side.side);
  if (!place) return;
  const style::Palette& c = style::colours();
  const ImVec2 at = {track.x(*place), track.from.y};
  const ImVec2 half = side.has_handle ? ImVec2{px(20), px(11)} : ImVec2{px(9), px(9)};
  ImGui::SetCursorScreenPos({at.x - half.x, at.y - half.y});
  ImGui::InvisibleButton(fmt::format("side {}", side.index).c_str(), {2 * half.x, 2 * half.y});
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(0, 2))
    move_side(application, side.index, track.place(ImGui::GetIO().MousePos.x), "rail");
  if (ImGui::IsItemDeactivated()) {
    application.session.end_merge();
    if (!side.has_handle) {
      SessionState next = application.session.state();
      next.compare.handle = side.index;
      application.session.change(std::move(next));
    }
  }
  const bool is_lit = ImGui::IsItemHovered() || ImGui::IsItemActive();
  tooltip(
      fmt::format("{} {}", rail_sentence(*place),
                  side.has_handle ? "Drag it along the rail, or press , and ." : "Drag it along the rail."));
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 colour = side_colour(side.index);
  if (side.has_handle) {
    compare_map().handle = at;
    const ImVec2 from = {at.x - half.x, at.y - half.y};
    const ImVec2 to = {at.x + half.x, at.y + half.y};
    list->AddRectFilled(from, to, c.panel, half.y);
    list->AddRect(from, to, is_lit ? c.text : colour, half.y, px(style::lit_line));
    for (const float direction : {-1.0F, 1.0F}) {
      const float tip = at.x + direction * px(14);
      const float base = tip - direction * px(5);
      list->AddTriangleFilled({tip, at.y}, {base, at.y - px(4)}, {base, at.y + px(4)}, colour);
    }
  }
  list->AddCircleFilled(at, px(dot), colour);
  if (!side.has_handle && is_lit) list->AddCircle(at, px(dot + 3), c.text, 0, px(style::line));
}

/// Another side, and which memory is shown.
void draw_buttons(Application& application, float left, float top) {
  ImGui::SetCursorScreenPos({left, top});
  command_button(application, "compare.add", [] { return style::pill_button("+ a side"); });
  CompareView view = application.session.state().compare;
  ImGui::SetCursorScreenPos({left, top + px(34)});
  if (style::segment_button("before", view.before, {.first = true})) view.before = true;
  tooltip("The memory as the word finds it.");
  ImGui::SameLine(0, 0);
  if (style::segment_button("after", !view.before, {.last = true})) view.before = false;
  tooltip("The memory as the word leaves it.");
  if (view == application.session.state().compare) return;
  SessionState next = application.session.state();
  next.compare = view;
  application.session.change(std::move(next));
}

}  // namespace

void draw_rail(Application& application, const ComparedSides& all, float height) {
  const float width = ImGui::GetContentRegionAvail().x;
  if (style::begin_panel("##rail", {width, height},
                         ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse)) {
    const ImVec2 panel = ImGui::GetWindowPos();
    const float padding = px(style::panel_padding);
    const float right = panel.x + width - padding - px(buttons_width);
    const float step = (right - panel.x - padding) / static_cast<float>(rail().size());
    const Track track{{panel.x + padding + step / 2, panel.y + px(line_from_top)}, step};
    const auto last = static_cast<double>(rail().size() - 1);
    ImGui::GetWindowDrawList()->AddLine({track.x(0), track.from.y}, {track.x(last), track.from.y},
                                        style::colours().edge, px(style::lit_line));
    for (std::size_t stop = 0; stop < rail().size(); ++stop) draw_stop(application, all, track, stop);
    for (const bool has_handle : {false, true}) {
      for (const ComparedSide& side : all.sides) {
        if (side.has_handle == has_handle) draw_side_on_rail(application, side, track);
      }
    }
    draw_buttons(application, right + px(14), panel.y + px(10));
    ImGui::SetCursorScreenPos(panel);
    ImGui::Dummy({1, 1});
  }
  style::end_panel();
}

}  // namespace palimpsest
