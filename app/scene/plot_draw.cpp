#include <fmt/format.h>
#include <implot.h>

#include "app/gl/context_local.h"
#include "app/scene/parts.h"
#include "app/scene/plot_view.h"
#include "app/widgets/chart.h"
#include "app/widgets/text.h"

// Plots on ImPlot, which does zooming, moving and bands. Axes and labels are drawn here: ImPlot fits its area
// to its own labels, but plots that are side by side or over tokens need a given place; and it rotates
// titles. Lines and points are drawn here, too: ImPlot draws each segment separately, so that half
// transparent lines are too strong at bends; it has no dashes, and its circles have ten corners.

namespace palimpsest {

namespace {

using style::px;

// In design pixels.
constexpr float caught = 12;      // how near the pointer must come to a point
constexpr float near_label = 50;  // within this distance a longer label is better than a nearer one
constexpr float least_area = 24;
constexpr float beside_area = 8;    // where a drag may begin, too
constexpr float least_line = 0.8F;  // of the usual line height

/// Moves the ends of a window towards `at`, a fraction of the window, or away from it.
void zoom(double& low, double& high, double at, double factor) {
  const double fixed = std::lerp(low, high, std::clamp(at, 0.0, 1.0));
  low = std::max(0.0, fixed + (low - fixed) * factor);
  high = std::min(1.0, fixed + (high - fixed) * factor);
}

/// ImPlot's context, with the lifetime of Dear ImGui's.
struct OwnImPlot {
  std::unique_ptr<ImPlotContext, decltype(&ImPlot::DestroyContext)> context = {ImPlot::CreateContext(),
                                                                               ImPlot::DestroyContext};
  std::map<std::string, PlotRange> fitted = {};   // the default range of each plot
  std::map<std::string, PlotRange> windows = {};  // what is seen of one that drags: parts from 0 to 1

  OwnImPlot() {
    ImPlot::SetCurrentContext(context.get());
    ImPlotStyle& look = ImPlot::GetStyle();
    look.PlotPadding = look.LabelPadding = look.FitPadding = {0, 0};
    look.PlotBorderSize = 0;
    look.Colors[ImPlotCol_PlotBg] = look.Colors[ImPlotCol_FrameBg] = {0, 0, 0, 0};
    ImPlot::GetInputMap().Fit = ImGuiMouseButton_COUNT - 1;  // a double click restores our own range
  }
};

/// The first of a label's notes that fits into `width` in the current font after `before`; empty: none.
std::string fitting_note(const PlotLabel& label, float width, const char* before = "") {
  const auto found = std::ranges::find_if(
      label.notes, [&](const std::string& note) { return text_extent(note).x <= width; });
  return found == label.notes.end() ? std::string() : before + *found;
}

Rectangle around(ImVec2 at, float half) { return Rectangle{at, at}.grown(half); }

/// A colour that is legible for text on the panel: a thin line's colour may be too faint.
ImU32 legible(ImU32 colour) {
  const style::Palette& c = style::colours();
  return style::contrast(colour | IM_COL32_A_MASK, c.panel) >= style::least_contrast ? colour : c.dim;
}

/// The bounds of points, clipped to the area.
Rectangle bounds_of(const std::vector<ImVec2>& points, const Rectangle& area) {
  Rectangle bounds = {area.maximum, area.minimum};
  for (const ImVec2& point : points)
    bounds = {lower_of(bounds.minimum, point), upper_of(bounds.maximum, point)};
  return bounds;
}

/// A line with additional points, so that labels keep clear of all of it.
std::vector<ImVec2> densely(const std::vector<ImVec2>& points) {
  std::vector<ImVec2> dense;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const ImVec2 way = points[i + 1] - points[i];
    const float pieces = std::floor(std::clamp(way.x / px(8), 1.0F, 400.0F));
    for (float piece = 0; piece < pieces; ++piece) dense.push_back(points[i] + way * (piece / pieces));
  }
  if (!points.empty()) dense.push_back(points.back());
  return dense;
}

class PlotPainter {
 public:
  PlotPainter(const Plot& plot, const Rectangle& room)
      : plot_(plot), room_(room), view_(lay_out_plot(plot, room)) {}

  PlotDone draw() {
    if (view_.area.width() < px(least_area) || view_.area.height() < px(least_area)) {
      draw_words(room_.minimum, style::Text::caption, style::colours().dim, "too little room for this plot");
      return {};
    }
    const ImVec2 cursor = ImGui::GetCursorScreenPos();
    done_.area = view_.area;
    if (!begin()) return done_;
    note_part("area", view_.area);
    if (!plot_.is_area) fill(view_.area, plot_ground(plot_));
    clipped([&] { each(PlotMark::Kind::area, [&](const PlotMark& mark) { draw_area(mark); }); });
    each(PlotMark::Kind::picture, [&](const PlotMark& mark) { draw_picture(mark); });
    clipped([&] {
      each(PlotMark::Kind::area, [&](const PlotMark& mark) { outline_mark(mark, area_of(mark)); });
    });
    draw_plot_frame(plot_, room_, view_);
    each(PlotMark::Kind::line, [&](const PlotMark& mark) { draw_line(mark); });
    for (std::size_t i = 0; i < plot_.series.size(); ++i) draw_series(i);
    each(PlotMark::Kind::point, [&](const PlotMark& mark) { draw_point(mark); });
    each(PlotMark::Kind::flag, [&](const PlotMark& mark) { draw_flag(mark); });
    for (const PlotMark& mark : plot_.marks) label_mark(mark);
    if (plot_.labels == Plot::Labels::beside)
      draw_ends();
    else
      for (std::size_t i = plot_.series.size(); i-- > 0;) label_series(i);
    answer_pointer();
    ImPlot::EndPlot();
    ImGui::SetCursorScreenPos(cursor);
    return done_;
  }

 private:
  void each(PlotMark::Kind kind, const auto& draw) const {
    for (const PlotMark& mark : plot_.marks)
      if (mark.kind == kind) draw(mark);
  }

  struct Told {
    ImVec2 at;
    float reach;
    const PlotMark* mark;
    const PlotSeries* series;
    std::size_t point;
  };

  /// Begins the ImPlot plot, with its default range or the one that the user chose.
  bool begin() {
    auto& own = context_local<OwnImPlot>();
    ImPlot::SetCurrentContext(own.context.get());
    done_.hovered = view_.area.contains(ImGui::GetIO().MousePos) && ImGui::IsWindowHovered();
    const Rectangle taken =
        view_.area.grown(px(plot_.drags ? beside_area : 0));  // what is dragged lies on an axis
    ImGui::SetCursorScreenPos(taken.minimum);
    if (plot_.drags || plot_.presses) ImGui::InvisibleButton(plot_.name.c_str(), taken.size());
    if (plot_.drags && plot_.explores) answer_wheel(own.windows[plot_.name]);
    if (plot_.drags) answer_drag();
    if (plot_.presses) answer_press();
    const PlotRange fitted = view_;
    PlotRange& known = own.fitted[plot_.name];
    const bool goes_back = done_.hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
    const bool explores = plot_.explores && !plot_.drags;
    const bool stays = explores && known == fitted && !goes_back;
    known = fitted;
    ImGui::SetCursorScreenPos(view_.area.minimum);
    const ImPlotFlags flags =
        ImPlotFlags_CanvasOnly | ImPlotFlags_NoFrame | (explores ? ImPlotFlags_None : ImPlotFlags_NoInputs);
    if (!ImPlot::BeginPlot(("##" + plot_.name).c_str(), view_.area.size(), flags)) return false;
    const auto set_up = [&](ImAxis axis, PlotAxis::Scale scale, double low, double high) {
      ImPlot::SetupAxis(axis, nullptr, ImPlotAxisFlags_NoDecorations | ImPlotAxisFlags_NoMenus);
      if (scale != PlotAxis::Scale::linear) ImPlot::SetupAxisScale(axis, ImPlotScale_Log10);
      ImPlot::SetupAxisLimits(axis, low, high, stays ? ImPlotCond_Once : ImPlotCond_Always);
    };
    set_up(ImAxis_X1, view_.x_scale, view_.left, view_.right);
    set_up(ImAxis_Y1, view_.y_scale, view_.bottom, view_.top);
    ImPlot::SetupFinish();
    if (explores) {
      const ImPlotRect seen = ImPlot::GetPlotLimits();
      static_cast<PlotRange&>(view_) = {seen.X.Min, seen.X.Max, seen.Y.Min, seen.Y.Max};
    }
    list_ = ImGui::GetWindowDrawList();
    return true;
  }

  /// Zooms around the pointer; a double click shows the whole range.
  void answer_wheel(PlotRange& window) {
    const ImGuiIO& io = ImGui::GetIO();
    if (ImGui::IsItemHovered()) {
      ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
      const ImVec2 part = (io.MousePos - view_.area.minimum) / view_.area.size();
      const double factor = std::pow(0.85, static_cast<double>(io.MouseWheel));
      zoom(window.left, window.right, static_cast<double>(part.x), factor);
      zoom(window.bottom, window.top, 1 - static_cast<double>(part.y), factor);
    }
    const double width = view_.right - view_.left;
    const double height = view_.top - view_.bottom;
    view_.right = view_.left + window.right * width;
    view_.left += window.left * width;
    view_.top = view_.bottom + window.top * height;
    view_.bottom += window.bottom * height;
  }

  void answer_drag() {
    done_.active = ImGui::IsItemActive();
    if (ImGui::IsItemHovered() || done_.active) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    if (done_.active)
      done_.dragged = std::clamp(view_.value_at_x(ImGui::GetIO().MousePos.x), plot_.x.low, plot_.x.high);
  }

  void answer_press() {
    const ImGuiIO& io = ImGui::GetIO();
    const bool is_hovered = ImGui::IsItemHovered();
    done_.active = ImGui::IsItemActive();
    done_.begins = ImGui::IsItemActivated();
    done_.ends = ImGui::IsItemDeactivated();
    done_.clicked = done_.ends && is_hovered && io.MouseDragMaxDistanceSqr[0] < px(16);
    const double across = (view_.right - view_.left) / static_cast<double>(view_.area.width());
    const double down = (view_.bottom - view_.top) / static_cast<double>(view_.area.height());
    const auto place = [&](ImVec2 point) {
      return PlotPlace{static_cast<double>(point.x) * across, static_cast<double>(point.y) * down};
    };
    if (is_hovered || done_.active || done_.ends) {
      const PlotPlace from_corner = place(io.MousePos - view_.area.minimum);
      done_.at = PlotPlace{view_.left + from_corner.x, view_.top + from_corner.y};
    }
    if (done_.active) done_.moved = place(io.MouseDelta);
    if (!is_hovered) return;
    ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
    done_.wheel = io.MouseWheel;
  }

  /// Draws clipped to the area, with slack for lines along its sides.
  void clipped(const auto& draw, float slack = 2) {
    const Rectangle seen = view_.area.grown(px(slack));
    list_->PushClipRect(seen.minimum, seen.maximum, true);
    draw();
    list_->PopClipRect();
  }

  Rectangle area_of(const PlotMark& mark) const {
    const ImVec2 one = view_.inside(mark.x, mark.y);
    const ImVec2 other = view_.inside(mark.to_x, mark.to_y);
    return {lower_of(one, other), upper_of(one, other)};
  }

  void note_mark(const PlotMark& mark, const Rectangle& where) const {
    if (!mark.name.empty()) note_part("mark/" + mark.name, where, mark.tip);
  }

  void draw_area(const PlotMark& mark) {
    const Rectangle box = area_of(mark);
    if (box.maximum.x <= box.minimum.x || box.maximum.y <= box.minimum.y) return;
    const ImU32 colour = mark.look.colour;
    if (mark.fill > 0) fill(box, style::mix(plot_ground(plot_), colour, mark.fill));
    if (mark.hatch > 0) hatch(box, style::mix(plot_ground(plot_), colour, mark.hatch));
    note_mark(mark, box);
  }

  static void outline_mark(const PlotMark& mark, const Rectangle& box) {
    if (mark.outline <= 0) return;
    const Rectangle around_it = Rectangle{rounded(box.minimum), rounded(box.maximum)}.grown(1);
    outline(around_it, mark.look.colour, 0, px(mark.outline));
  }

  /// A part of it may lie beyond the sides.
  void draw_picture(const PlotMark& mark) {
    const Rectangle box = {rounded(view_.at(mark.x, mark.y)), rounded(view_.at(mark.to_x, mark.to_y))};
    clipped([&] { heat_map(scope_path() + "/" + mark.name, *mark.numbers, mark.version, box, mark.heat); },
            0);
    outline_mark(mark, box);
    note_mark(mark, box);
    if (!mark.told || !ImGui::IsWindowHovered()) return;
    const auto cell = pointed_cell(*mark.numbers, mark.heat, box);
    if (cell) tell(box, mark.told(*cell));
  }

  void draw_line(const PlotMark& mark) {
    const ImVec2 ends[] = {line_end(mark.x, mark.y, true), line_end(mark.to_x, mark.to_y, false)};
    clipped([&] { straight_line(list_, ends, mark.look.colour, px(mark.look.width), px(mark.look.dash)); });
    taken_.lines.push_back({ends[0], ends[1]});
    note_mark(mark, bounds_of({ends[0], ends[1]}, view_.area));
  }

  /// An end of a line; infinite coordinates are at the side of the area.
  ImVec2 line_end(double x, double y, bool first) const {
    const ImVec2 side = first ? view_.area.minimum : view_.area.maximum;
    return {std::isfinite(x) ? view_.x(x) : side.x, std::isfinite(y) ? view_.y(y) : side.y};
  }

  /// The points of a series on the screen; NaN ends a piece.
  std::vector<std::vector<ImVec2>> pieces_of(const PlotSeries& series) const {
    std::vector<std::vector<ImVec2>> pieces(1);
    for (std::size_t i = 0; i < std::min(series.x.size(), series.y.size()); ++i) {
      if (std::isfinite(series.y[i]))
        pieces.back().push_back(view_.at(series.x[i], series.y[i]));
      else if (!pieces.back().empty())
        pieces.emplace_back();
    }
    return pieces;
  }

  static void draw_band(const PlotSeries& series, const std::string& id) {
    if (series.low.size() != series.x.size() || series.x.size() < 2) return;
    ImPlotSpec spec;
    spec.FillColor = ImGui::ColorConvertU32ToFloat4(series.look.colour);
    spec.FillColor.w *= series.band;  // its FillAlpha would count twice
    spec.LineColor = ImGui::ColorConvertU32ToFloat4(series.look.colour);
    spec.LineWeight = px(series.look.width);
    spec.Flags = ImPlotItemFlags_NoLegend | ImPlotItemFlags_NoFit;
    ImPlot::PlotShaded(id.c_str(), series.x.data(), series.low.data(), series.high.data(),
                       static_cast<int>(series.x.size()), spec);
  }

  void draw_series(std::size_t index) {
    const PlotSeries& series = plot_.series[index];
    const PlotLook& look = series.look;
    draw_band(series, fmt::format("##{}band", index));
    if (look.width > 0) {
      clipped([&] {
        for (const std::vector<ImVec2>& points : pieces_of(series)) {
          const float width = std::max(px(look.width), 1.0F);
          if (look.dash > 0)
            dashed_curve(list_, points, look.colour, width, px(look.dash));
          else
            solid_curve(list_, points, look.colour, width);
        }
      });
    }
    std::vector<ImVec2> all;
    clipped(
        [&] {
          for (std::size_t point = 0; point < std::min(series.x.size(), series.y.size()); ++point) {
            if (!std::isfinite(series.y[point])) continue;
            const ImVec2 at = all.emplace_back(view_.at(series.x[point], series.y[point]));
            draw_plot_marker(at, look);
            if (!series.tip) continue;
            told_.push_back({at, px(look.size + 5), nullptr, &series, point});
            note_part(fmt::format("point/{}/{}", series.name, point), around(at, px(look.size)));
          }
        },
        look.size + 2);
    if (!series.name.empty()) note_part("series/" + series.name, bounds_of(all, view_.area));
    lines_.push_back(series.name.empty() ? std::vector<ImVec2>() : densely(all));
    if (!series.name.empty()) taken_.lines.push_back(std::move(all));
  }

  ImVec2 place_of(const PlotMark& mark) const {
    return view_.inside(mark.x, mark.y) + ImVec2(px(mark.shift.x), px(mark.shift.y));
  }

  void draw_point(const PlotMark& mark) {
    const ImVec2 at = place_of(mark);
    draw_plot_marker(at, mark.look);
    const float reach = px(mark.look.size + 2);
    taken_.boxes.push_back(around(at, reach));
    note_mark(mark, around(at, reach));
    if (!mark.tip.empty()) told_.push_back({at, px(mark.look.size + 3), &mark, nullptr, 0});
  }

  /// A flag on its pole; if its place is not in view, the pole is at that side.
  void draw_flag(const PlotMark& mark) {
    const style::TextStyle text(style::Text::caption);
    const bool is_before = mark.x < view_.left;
    const bool is_after = mark.x > view_.right;
    const std::string words = (is_before ? "← " : "") + mark.label.words.front() + (is_after ? " →" : "");
    const float x = view_.inside(mark.x, view_.top).x;
    const ImVec2 size = text_extent(words);
    const float width = size.x + px(22);
    const bool to_left = x + width > view_.area.maximum.x;
    const ImVec2 low = {to_left ? x - width : x, view_.area.minimum.y};
    const ImVec2 high = {low.x + width, low.y + size.y + px(6)};
    if (!is_before && !is_after)
      list_->AddLine({x, low.y}, {x, view_.area.maximum.y + px(mark.shift.y)}, mark.look.colour, px(1));
    const float notch = px(8);
    const float middle = (low.y + high.y) / 2;
    const ImVec2 corners[] = {low,  {high.x, low.y}, {high.x - (to_left ? 0 : notch), middle},
                              high, {low.x, high.y}, {low.x + (to_left ? notch : 0), middle}};
    list_->AddConcavePolyFilled(corners, 6, mark.look.colour);
    draw_text({low.x + px(to_left ? 14 : 6), low.y + px(3)},
              style::legible_on(style::bytes(mark.look.colour)), words);
    taken_.boxes.push_back({low, high});
    note_mark(mark, {low, high});
    note_part("label/" + mark.name, {low, high}, words);
  }

  static style::Text letters_of(const PlotLabel& label) {
    return label.is_strong ? style::Text::strong : style::Text::caption;
  }

  static ImVec2 extent_of(const PlotLabel& label, const std::string& words) {
    ImVec2 extent = text_extent(letters_of(label), words);
    if (!label.symbol.empty()) extent.x += measure_formula(label.symbol, px(15)).width + px(4);
    if (label.notes.empty()) return extent;
    const ImVec2 note = text_extent(style::Text::caption, label.notes.front());
    return {std::max(extent.x, note.x), extent.y + note.y + px(1)};
  }

  /// Draws a label with a background, as it may cover a curve.
  void draw_label(const PlotLabel& label, const std::string& name, const std::string& words, ImVec2 at,
                  ImU32 colour) {
    const Rectangle box = box_at(at, extent_of(label, words));
    taken_.boxes.push_back(box);
    done_.labels_on_curves += taken_.cross(box) ? 1 : 0;
    fill(box.grown({px(3), px(1)}), style::with_alpha(plot_ground(plot_), 0.85F), px(3));
    const ImU32 ink = legible(label.colour ? label.colour : colour);
    float x = at.x;
    if (!label.symbol.empty()) {
      const style::TextStyle text(letters_of(label));
      const ImVec2 baseline = {x, at.y + ImGui::GetFontBaked()->Ascent};
      x += draw_formula(list_, baseline, label.symbol, px(15), style::colours().strength).width + px(4);
    }
    const float height = draw_words({x, at.y}, letters_of(label), ink, words).y;
    if (!label.notes.empty())
      draw_words({at.x, at.y + (height + px(1))}, style::Text::caption, ink, label.notes.front());
    if (!name.empty())
      note_part("label/" + name, box, label.notes.empty() ? words : words + " " + label.notes.front());
  }

  Rectangle labels_room() const { return view_.area.grown(-px(4)); }

  /// The preferred upper left corner of a mark's label.
  ImVec2 wish_of(const PlotMark& mark, ImVec2 extent) const {
    const Rectangle room = labels_room();
    if (mark.kind == PlotMark::Kind::point) {
      const ImVec2 at = place_of(mark);
      const bool fits = at.x + px(mark.wish.x) + extent.x <= room.maximum.x;
      return {fits ? at.x + px(mark.wish.x) : at.x - px(mark.wish.x) - extent.x, at.y + px(mark.wish.y)};
    }
    if (mark.kind == PlotMark::Kind::area) {
      const Rectangle box = area_of(mark);
      const ImVec2 gap = {px(8), px(8)};
      return box.minimum + gap + mark.wish * (box.size() - extent - gap * 2);
    }
    const ImVec2 from = line_end(mark.x, mark.y, true);
    const ImVec2 to = line_end(mark.to_x, mark.to_y, false);
    const ImVec2 at = from + mark.wish * (to - from);
    const bool is_upright = from.x == to.x;
    const bool is_left = at.x + extent.x + px(8) > room.maximum.x;
    return {is_left ? at.x - extent.x - px(8) : at.x + px(8),
            is_upright ? at.y + px(8) : at.y - extent.y - px(3)};
  }

  /// The places at which a label clearly belongs to its point: the preferred one, and beside the point.
  std::array<ImVec2, 5> places_around(const PlotMark& mark, ImVec2 extent) const {
    const ImVec2 at = place_of(mark);
    const float gap = px(mark.look.size + 5);
    return {wish_of(mark, extent),
            {at.x - gap - extent.x, at.y - extent.y / 2},
            {at.x + gap, at.y - extent.y / 2},
            {at.x - extent.x / 2, at.y + gap},
            {at.x - extent.x / 2, at.y - gap - extent.y}};
  }

  void label_mark(const PlotMark& mark) {
    const PlotLabel& label = mark.label;
    if (label.words.empty() || mark.kind == PlotMark::Kind::flag) return;
    const ImVec2 extent = extent_of(label, label.words.front());
    const auto put = [&](const std::string& words, ImVec2 at) {
      draw_label(label, mark.name, words, at, mark.look.colour);
    };
    Rectangle room = labels_room();
    if (mark.kind == PlotMark::Kind::area) {
      const Rectangle box = area_of(mark);
      const bool fits = box.width() > extent.x + px(16);
      if (!fits && !label.is_needed) return;
      if (fits && box.height() > extent.y + px(8)) room = box;
    }
    if (mark.kind == PlotMark::Kind::line && mark.x == mark.to_x) {
      const auto at = place_beside_upright(room, taken_, wish_of(mark, extent), view_.x(mark.x), extent);
      if (at) put(label.words.front(), *at);
      return;
    }
    if (mark.kind == PlotMark::Kind::point) {
      for (const ImVec2 at : places_around(mark, extent)) {
        const Rectangle box = box_at(at, extent);
        if (room.holds(box) && !taken_.cover(box) && !taken_.cross(box)) return put(label.words.front(), at);
      }
    }
    std::string words;
    LabelPlace found;
    for (const std::string& choice : label.words) {
      const ImVec2 size = extent_of(label, choice);
      const LabelPlace place = free_place(room, taken_, wish_of(mark, size), size);
      if (words.empty() || !found.is_free || (place.is_free && place.away < found.away)) {
        words = choice;
        found = place;
      }
      if (found.is_free && found.away <= px(near_label)) break;
    }
    if (found.is_free || label.is_needed) put(words, found.at);
  }

  void label_series(std::size_t index) {
    const PlotSeries& series = plot_.series[index];
    if (series.label.words.empty()) return;
    const std::string& words = series.label.words.front();
    Taken taken = {.boxes = taken_.boxes};
    for (const std::vector<ImVec2>& line : taken_.lines) {
      if (line.size() == 2 && line.front().x == line.back().x)
        taken.boxes.push_back(bounds_of(line, view_.area));
    }
    const auto at = place_beside_line(view_.area, taken, lines_, index, extent_of(series.label, words));
    if (at) draw_label(series.label, series.name, words, *at, series.look.colour);
  }

  /// The labels of series beside the plot, each with a line to the end of its series.
  void draw_ends() {
    std::vector<const PlotSeries*> all;
    for (const PlotSeries& series : plot_.series) {
      if (!series.label.words.empty() && !series.x.empty()) all.push_back(&series);
    }
    // If not all fit, the strong ones have priority.
    std::ranges::stable_partition(all, [](const PlotSeries* series) { return series->label.is_strong; });
    std::vector<ImVec2> ends = made_of(
        all, [&](const PlotSeries* series) { return view_.inside(series->x.back(), series->y.back()); });
    const float caption = text_extent(style::Text::caption, "x").y;
    const float body = text_extent(style::Text::strong, "x").y;
    // Two lines each if they fit, else one.
    const auto height_of = [&](const PlotSeries& series, bool in_two) {
      return in_two ? body + caption + px(5) : (series.label.is_strong ? body : caption) + px(2);
    };
    const auto has_two = [](const PlotSeries& series) {
      return series.label.is_strong && !series.label.value.empty();
    };
    const Rectangle room = {
        {view_.area.maximum.x + px(plot_.is_area ? 14 : to_plot_label), view_.area.minimum.y - px(8)},
        {room_.maximum.x + px(plot_.beside), view_.area.maximum.y + px(4)}};
    float needed = 0;
    for (const PlotSeries* const series : all) needed += height_of(*series, has_two(*series));
    const bool split = needed <= room.height();
    // Over tokens there may be little room: then the lines are closer together.
    const bool is_low = plot_.is_area && !split;
    const float closer = is_low ? std::clamp(room.height() / needed, least_line, 1.0F) : 1;
    std::vector<WantedLabel> wanted;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool in_two = split && has_two(*all[i]);
      const float height = closer * height_of(*all[i], in_two);
      wanted.push_back({ends[i].y - (in_two ? body / 2 : height / 2), height});
    }
    const std::vector<float> tops = spread(wanted, room.minimum.y, room.maximum.y);
    for (std::size_t i = 0; i < tops.size(); ++i)
      draw_end(*all[i], ends[i], tops[i], wanted[i].height, split && has_two(*all[i]), room);
    if (tops.size() == all.size()) return;
    const style::TextStyle text(style::Text::caption);
    draw_text({room.minimum.x, view_.area.maximum.y + px(10)}, style::colours().dim,
              shortened(fmt::format("and {} more", all.size() - tops.size()), room.width()));
  }

  void draw_end(const PlotSeries& series, ImVec2 end, float top, float height, bool split,
                const Rectangle& room) {
    const PlotLabel& label = series.label;
    const ImU32 colour = label.colour ? label.colour : series.look.colour;
    const float width = room.width();
    const style::TextStyle text(letters_of(label));
    const float line = text_extent("x").y;
    const float middle = top + (split ? line / 2 : height / 2);
    draw_leader(end, {room.minimum.x - px(5), middle},
                style::mix(style::colours().panel, colour, label.is_strong ? 0.5F : 0.3F));
    std::string shown = label.words.front();
    const std::string value = split || label.value.empty() ? "" : "  " + label.value;
    for (const std::string& choice : label.words) {
      shown = choice + value;
      if (text_extent(shown).x <= width) break;
    }
    if (!split) shown += fitting_note(label, width - text_extent(shown + " ").x, " ");
    shown = shortened(shown, width);
    const float shown_height = std::min(line, height);
    Rectangle box = box_at({room.minimum.x, middle - shown_height / 2}, {text_extent(shown).x, shown_height});
    draw_text({room.minimum.x, middle - line / 2}, legible(colour), shown);
    if (split) {
      const ImVec2 extent = draw_value(label, {room.minimum.x, top + line + px(1)}, width, legible(colour));
      box.maximum = {std::max(box.maximum.x, room.minimum.x + extent.x), top + line + px(1) + extent.y};
      shown += " " + label.value;
    }
    note_part("label/" + series.name, box, shown);
  }

  /// "340 ms  plain kernel", below the name of a series.
  static ImVec2 draw_value(const PlotLabel& label, ImVec2 at, float width, ImU32 colour) {
    const ImVec2 extent = draw_words(at, style::Text::number_small, colour, label.value);
    const style::TextStyle text(style::Text::caption);
    const std::string shown = fitting_note(label, width - extent.x - px(8));
    if (shown.empty()) return extent;
    draw_text({at.x + extent.x + px(8), at.y}, style::colours().dim, shown);
    return {extent.x + px(8) + text_extent(shown).x, std::max(extent.y, text_extent(shown).y)};
  }

  void draw_leader(ImVec2 end, ImVec2 label, ImU32 colour) {
    const float side = view_.area.maximum.x;
    if (end.x <= side - px(3)) {
      for (float x = end.x + px(7); x < side + px(4); x += px(6))
        list_->AddCircleFilled({x, end.y}, px(0.8F), colour);
    }
    list_->AddLine({std::max(side + px(5), end.x + px(5)), end.y}, label, colour, px(1));
  }

  void tell(const Rectangle& beside, const std::string& words) {
    if (words.empty()) return;
    done_.told = words;
    note_part("told", beside, words);
    tooltip_beside(beside, words);
  }

  /// The tooltip of what is nearest to the pointer.
  void answer_pointer() {
    if (!ImGui::IsWindowHovered()) return;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    for (const PlotSpan& span : plot_.strip) {
      const Rectangle box = span_place(span, view_);
      if (box.grown({0, px(4)}).contains(mouse)) return tell(box, span.tip);
    }
    if (plot_.told && done_.hovered && done_.at) return tell(view_.area, plot_.told(*done_.at));
    const auto distance = [&](const Told& each) {
      return std::hypot(each.at.x - mouse.x, each.at.y - mouse.y);
    };
    const Told* nearest = nullptr;
    for (const Told& each : told_) {
      if (distance(each) < px(caught) && (!nearest || distance(each) <= distance(*nearest))) nearest = &each;
    }
    if (!nearest)
      return each(PlotMark::Kind::area, [&](const PlotMark& mark) {
        const Rectangle box = area_of(mark);
        if (!mark.tip.empty() && box.contains(mouse)) tell(box, mark.tip);
      });
    if (nearest->series)
      list_->AddCircle(nearest->at, nearest->reach - px(1.5F), style::colours().text, 0, px(1.5F));
    tell(around(nearest->at, nearest->reach),
         nearest->mark ? nearest->mark->tip : nearest->series->tip(nearest->point));
  }

  const Plot& plot_;
  Rectangle room_;
  PlotView view_;
  PlotDone done_;
  ImDrawList* list_ = nullptr;
  Taken taken_;
  std::vector<std::vector<ImVec2>> lines_;  // of each series, for placing labels
  std::vector<Told> told_;
};

}  // namespace

PlotDone draw_plot(const Plot& plot, const Rectangle& room) {
  const PartScope scope(plot.name);
  const auto draw = [&](const Plot& shown) { return PlotPainter(shown, room).draw(); };
  PlotGuess& guess = plot_guess();
  return !guess.plot.empty() && guess.plot == scope_path() ? draw_guessed(plot, guess, draw) : draw(plot);
}

}  // namespace palimpsest
