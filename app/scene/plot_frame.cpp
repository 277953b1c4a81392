#include <fmt/format.h>

#include "app/scene/parts.h"
#include "app/scene/plot_view.h"
#include "app/widgets/chart.h"
#include "app/widgets/text.h"

// The axes, titles, legend and strip of a plot.

namespace palimpsest {

namespace {

using style::px;

// In design pixels.
constexpr float beside_axis = 11;  // between numbers and their axis
constexpr float numbers_step = 12;
constexpr float below_axis = 5;   // the same below it
constexpr float second_row = 18;  // the second row below the ticks
constexpr float title_line = 16;
constexpr float legend_height = 24;
constexpr float strip_height = 9;
constexpr float strip_room = 15;
constexpr float most_beside = 200;  // for the labels of series beside the plot
constexpr float beside_part = 0.23F;
constexpr float tick = 4;
constexpr float beside_words = 6;  // between words and their axis

constexpr double furthest = 1e6;   // pixels: a point that is infinitely far away
constexpr double least_minor = 3;  // pixels between minor ticks, where they are closest

/// "10⁻⁷", and 1 as "1".
std::string decade_words(double value) {
  const int power = static_cast<int>(std::lround(std::log10(value)));
  return power == 0 ? "1" : power == 1 ? "10" : power_of_ten(power);
}

std::vector<PlotTick> linear_ticks(const PlotAxis& axis, double low, double high, double length, int most) {
  const std::vector<double> numbers = round_numbers(low, high, most);
  const double distance = numbers.size() > 1 ? numbers[1] - numbers[0] : 1;
  std::vector<PlotTick> ticks;
  for (const double number : numbers)
    ticks.push_back({.at = number, .words = axis.words ? axis.words(number) : axis_number(number, distance)});
  // Between them fifths, or of a distance of 2, 20, … quarters.
  const double leading = distance / std::pow(10, std::floor(std::log10(distance) + 1e-9));
  const int parts = leading > 1.5 && leading < 3 ? 4 : 5;
  const double minor = distance / parts;
  if (numbers.size() < 2 || length * minor < least_minor * (high - low)) return ticks;
  for (double i = std::ceil(low / minor - 1e-9); i * minor <= high; ++i) {
    if (std::remainder(i, parts) != 0) ticks.push_back({.at = i * minor});
  }
  return ticks;
}

/// Powers of `base`, as many of them with numbers as fit; and, between powers of ten, their multiples.
std::vector<PlotTick> power_ticks(const PlotAxis& axis, double base, double low, double high, float length,
                                  int most) {
  const double powers = std::log(high / low) / std::log(base);
  const double slack = 1e-9 * powers;
  const int first = static_cast<int>(std::ceil(std::log(low) / std::log(base) - slack));
  const int last = static_cast<int>(std::floor(std::log(high) / std::log(base) + slack));
  const int every = std::max(1, static_cast<int>(std::ceil(powers / std::max(most, 1))));
  const double decade = static_cast<double>(length) / powers;
  const bool has_all = (1 - std::log10(9)) * decade >= least_minor;
  const bool has_some = (1 - std::log10(5)) * decade >= least_minor;  // 2 and 5
  std::vector<PlotTick> ticks;
  for (int power = first - 1; power <= last; ++power) {
    const double at = std::pow(base, power);
    if (power >= first) {
      const bool is_told = power % every == 0;
      std::string words;
      if (is_told)
        words = axis.words ? axis.words(at) : base == 10 ? decade_words(at) : fmt::format("{:g}", at);
      ticks.push_back({.at = at, .words = words});
    }
    for (int digit = 2; digit < 10 && base == 10 && has_some; ++digit) {
      if (!has_all && digit != 2 && digit != 5) continue;
      if (digit * at >= low && digit * at <= high) ticks.push_back({.at = digit * at});
    }
  }
  return ticks;
}

/// The position of a number between `low` and `high`, from 0 to 1.
double part_of(double value, double low, double high, PlotAxis::Scale scale) {
  if (scale == PlotAxis::Scale::linear) return (value - low) / (high - low);
  return value > 0 ? std::log(value / low) / std::log(high / low) : -plot_side;
}

float pixel(double part, float at_0, float at_1) {
  const double at = static_cast<double>(at_0) + part * static_cast<double>(at_1 - at_0);
  return static_cast<float>(std::clamp(at, -furthest, furthest));
}

ImU32 grid() { return style::mix(style::colours().panel, style::colours().edge, 0.75F); }

/// A plot in its room, with the visible range `view`.
struct PlotFrame {
  const Plot& plot;
  const Rectangle room;
  PlotView view;
  ImDrawList* const list = ImGui::GetWindowDrawList();

  PlotView lay_out() {
    if (plot.is_area) return view;
    Rectangle& area = view.area;
    area.minimum.y += plot.legend.empty() ? 0 : px(legend_height);
    area.minimum.y += plot.y.title.empty() || !plot.legend.empty() ? 0 : px(title_line + 4);
    float numbers = 0;
    for (const PlotTick& each : ticks_y(view.area.height()))
      numbers = std::max(numbers, text_extent(style::Text::number_small, each.words).x);
    numbers = std::max({numbers, text_extent(style::Text::caption, plot.strip_name).x,
                        text_extent(style::Text::caption, plot.x.row_name).x});
    // In steps, so that plots do not move for every other number.
    area.minimum.x += plot.y.room > 0
                          ? px(plot.y.room)
                          : std::ceil(numbers / px(numbers_step)) * px(numbers_step) + px(beside_axis);
    if (plot.labels == Plot::Labels::beside) area.maximum.x -= px(to_plot_label) + ends_width();
    const bool has_ticks = plot.x.has_round || !plot.x.named.empty();
    area.maximum.y -= plot.x.room > 0 ? px(plot.x.room)
                      : has_ticks     ? px(below_axis) + text_extent(style::Text::number_small, "x").y
                                      : 0;
    area.maximum.y -= (plot.strip_name.empty() ? 0 : px(strip_room)) + (has_rows() ? px(second_row) : 0);
    if (!plot.x.title.empty()) area.maximum.y -= px(title_line * static_cast<float>(titles_x().size()) + 3);
    area = {rounded(area.minimum), rounded(area.maximum)};
    return view;
  }

  void draw() const {
    if (plot.x.rising) {
      draw_words_of(plot.x, true);
      return draw_words_of(plot.y, false);
    }
    draw_ticks_x();
    draw_ticks_y();
    draw_legend();
    draw_strip();
  }

  bool has_rows() const {
    return std::ranges::any_of(plot.x.named, [](const PlotTick& each) { return !each.below.empty(); });
  }

  std::vector<PlotTick> ticks_y(float height) const {
    const float apart = plot.y.scale == PlotAxis::Scale::linear ? 1.9F : 1.4F;
    return plot_ticks(plot.y, view.bottom, view.top, height,
                      text_extent(style::Text::number_small, "0").y * apart);
  }

  /// The titles of the x axis, as many on each line as fit.
  std::vector<std::string> titles_x() const {
    const style::TextStyle text(style::Text::caption);
    std::vector<std::string> lines = {""};
    for (const std::string& part : plot.x.title) {
      const std::string longer = lines.back() + (lines.back().empty() ? "" : "   ") + part;
      if (lines.back().empty() || text_extent(longer).x <= view.area.width())
        lines.back() = longer;
      else
        lines.push_back(part);
    }
    return lines;
  }

  float ends_width() const {
    const style::TextStyle text(style::Text::strong);
    float width = 0;
    for (const PlotSeries& series : plot.series) {
      if (!series.label.words.empty()) width = std::max(width, text_extent(series.label.words.front()).x);
      width = std::max(width, text_extent(style::Text::number_small, series.label.value).x + px(8) +
                                  text_extent(style::Text::caption,
                                              series.label.notes.empty() ? "" : series.label.notes.front())
                                      .x);
    }
    return std::clamp(beside_part * room.width() - px(to_plot_label), 0.0F, std::min(px(most_beside), width));
  }

  void draw_ticks_x() const {
    const style::Palette& c = style::colours();
    const style::TextStyle text(style::Text::number_small);
    const float height = text_extent("0").y;
    const float top = view.area.maximum.y + px(below_axis) + (plot.strip_name.empty() ? 0 : px(strip_room));
    const float wide = text_extent("0000").x + px(10);
    const std::vector<PlotTick> ticks = plot_ticks(plot.x, view.left, view.right, view.area.width(), wide);
    Taken taken;
    std::string words;
    // From the last one back: named ticks have priority.
    for (auto each = ticks.rbegin(); each != ticks.rend(); ++each) {
      const float x = std::round(view.x(each->at));
      const bool is_minor = each->words.empty() && each->latex.empty();
      const float length = px(is_minor ? tick - 1 : tick);
      list->AddLine({x, view.area.maximum.y}, {x, view.area.maximum.y + length}, is_minor ? c.edge : c.faint);
      if (is_minor) continue;
      const FormulaSize formula = each->latex.empty() ? FormulaSize() : measure_formula(each->latex, px(16));
      const ImVec2 extent = each->latex.empty() ? text_extent(each->words) : ImVec2{formula.width, px(14)};
      const float left = std::min(x - extent.x / 2, room.maximum.x - extent.x);
      const Rectangle box = {{left - px(4), top}, {left + extent.x + px(4), top + height}};
      if (taken.cover(box)) continue;
      taken.boxes.push_back(box);
      if (plot.x.has_grid && each->colour == 0)
        list->AddLine({x, view.area.minimum.y}, {x, view.area.maximum.y}, grid());
      const ImU32 ink = each->colour ? each->colour : c.dim;
      if (each->latex.empty())
        draw_text({left, top}, ink, each->words);
      else
        draw_formula(list, {left, top + px(13)}, each->latex, px(16), ink);
      words = each->words + each->latex + " " + words;
      if (each->below.empty()) continue;
      const float width = text_extent(style::Text::caption, each->below).x;
      draw_words({std::min(x - width / 2, room.maximum.x - width), top + px(second_row)},
                 style::Text::caption, c.good, each->below);
    }
    draw_words({view.area.minimum.x - px(beside_axis), top + px(second_row)}, style::Text::caption, c.good,
               plot.x.row_name, {1, 0});
    if (plot.x.gap) draw_gap({view.x(*plot.x.gap), view.area.maximum.y}, true);
    draw_titles_x(top + height, words);
  }

  /// The words of an axis, the last one first, each in the first lane in which it does not touch another.
  void draw_words_of(const PlotAxis& axis, bool is_x) const {
    const style::TextStyle text(style::Text::caption);
    const float height = text_extent("x").y;
    const float lane = (px(axis.room) - px(beside_words)) / static_cast<float>(axis.lanes);
    std::vector<std::vector<float>> taken(static_cast<std::size_t>(axis.lanes));
    for (auto each = axis.named.rbegin(); each != axis.named.rend(); ++each) {
      const float middle = is_x ? view.x(each->at) : view.y(each->at);
      const auto is_near = [&](float other) { return std::abs(other - middle) < height - 0.5F; };
      const auto found = std::ranges::find_if(
          taken, [&](const std::vector<float>& words) { return std::ranges::none_of(words, is_near); });
      if (found == taken.end()) continue;
      found->push_back(middle);
      const std::string shown = shortened(each->words, lane - px(4));
      const ImVec2 extent = text_extent(shown);
      const float along = middle - height / 2;
      const float away = px(beside_words) + static_cast<float>(found - taken.begin()) * lane;
      const ImVec2 at = is_x ? ImVec2{along, view.area.maximum.y + away}
                             : ImVec2{view.area.minimum.x - away - extent.x, along};
      if (is_x)
        draw_rising_text({at.x, at.y + extent.x}, each->colour, shown);
      else
        draw_text(at, each->colour, shown);
      note_part(fmt::format("axis/{}/{}", is_x ? 'x' : 'y', each->at),
                box_at(at, is_x ? ImVec2{extent.y, extent.x} : extent), shown);
    }
  }

  void draw_titles_x(float bottom, const std::string& numbers) const {
    const style::TextStyle caption(style::Text::caption);
    float y = bottom + px(3) + (has_rows() ? px(second_row) : 0);
    std::string all;
    for (const std::string& title : titles_x()) {
      const std::string words = shortened(title, room.width());
      const float width = text_extent(words).x;
      const float middle = (view.area.minimum.x + view.area.maximum.x - width) / 2;
      draw_text({std::clamp(middle, room.minimum.x, std::max(room.maximum.x - width, room.minimum.x)), y},
                style::colours().dim, words);
      y += px(title_line);
      all += title + " ";
    }
    if (!plot.is_area)
      note_part("axis/x", {{view.area.minimum.x, view.area.maximum.y}, {view.area.maximum.x, y}},
                all + ": " + numbers);
  }

  void draw_ticks_y() const {
    const style::Palette& c = style::colours();
    const Rectangle& area = view.area;
    Taken taken;
    std::string words;
    const std::vector<PlotTick> ticks = ticks_y(view.area.height());
    for (auto each = ticks.rbegin(); each != ticks.rend(); ++each) {
      const bool is_named = each->colour != 0;
      const style::TextStyle text(is_named ? style::Text::caption : style::Text::number_small);
      const float y = std::round(view.y(each->at));
      const bool is_minor = each->words.empty();
      if (is_minor) {
        list->AddLine({area.minimum.x - px(tick - 1), y}, {area.minimum.x, y}, c.edge);
        continue;
      }
      if (!is_named) list->AddLine({area.minimum.x - px(tick), y}, {area.maximum.x, y}, grid());
      const ImVec2 extent = text_extent(each->words);
      const ImVec2 at = {area.minimum.x - px(beside_axis) - extent.x, y - extent.y / 2};
      const Rectangle box = box_at(at, extent);
      if (taken.cover(box)) continue;
      if (!plot.strip_name.empty() && box.maximum.y > area.maximum.y)
        continue;  // the name of the strip is there
      taken.boxes.push_back(box);
      draw_text(at, is_named ? each->colour : c.dim, each->words);
      words = each->words + " " + words;
    }
    if (plot.y.gap) draw_gap({view.area.minimum.x, view.y(*plot.y.gap)}, false);
    std::string title;
    for (const std::string& part : plot.y.title) title += (title.empty() ? "" : ", ") + part;
    if (!title.empty() && !plot.is_area) {  // above it, in the line of the legend if there is one
      const style::TextStyle caption(style::Text::caption);
      const float top = plot.legend.empty() ? view.area.minimum.y - px(title_line + 4)
                                            : legend_middle() - text_extent("x").y / 2;
      draw_text({room.minimum.x, top}, c.dim, shortened(title, room.width()));
    }
    note_part(
        "axis/y",
        {{plot.is_area ? area.minimum.x : room.minimum.x, area.minimum.y}, {area.minimum.x, area.maximum.y}},
        title + ": " + words);
  }

  float legend_middle() const { return room.minimum.y + px(legend_height / 2 - 2); }

  /// The sign of a broken axis.
  void draw_gap(ImVec2 at, bool is_x) const {
    const auto turned = [&](float along, float across) {
      return at + (is_x ? ImVec2(px(along), px(across)) : ImVec2(px(across), px(along)));
    };
    fill({turned(-3, -4), turned(3, 4)}, style::colours().panel);
    for (const float side : {-3.0F, 3.0F})
      list->AddLine(turned(side + 2, -4), turned(side - 2, 4), style::colours().faint, px(1));
  }

  void draw_legend() const {
    if (plot.legend.empty()) return;
    constexpr float sample = 26;
    const style::Palette& c = style::colours();
    const style::TextStyle text(style::Text::caption);
    const float middle = legend_middle();
    const float height = text_extent("x").y;
    float title = 0;
    for (const std::string& part : plot.y.title) title += text_extent(part).x + px(18);
    float x = std::max(view.area.minimum.x, room.minimum.x + title);  // above the area, or after the title
    for (const PlotKey& key : plot.legend) {
      const float width = text_extent(key.words).x;
      if (x + px(sample + 8) + width > room.maximum.x) continue;
      const ImVec2 ends[] = {{x, middle}, {x + px(sample), middle}};
      if (key.sample == PlotKey::Sample::band)
        fill(Rectangle{ends[0], ends[1]}.grown({0, px(5)}), style::with_alpha(key.look.colour, 0.18F));
      else if (key.sample == PlotKey::Sample::point)
        draw_plot_marker({x + px(sample / 2), middle}, key.look);
      else
        straight_line(list, ends, key.look.colour, px(key.look.width), px(key.look.dash));
      const ImVec2 at = {x + px(sample + 8), middle - height / 2};
      draw_text(at, c.dim, key.words);
      note_part("legend/" + key.words, box_at(at, {width, height}), key.words);
      x = at.x + width + px(18);
    }
  }

  void draw_strip() const {
    if (plot.strip_name.empty()) return;
    const style::Palette& c = style::colours();
    const Rectangle all = span_place({.from = view.left, .to = view.right}, view);
    draw_words({all.minimum.x - px(beside_axis), all.middle().y}, style::Text::caption, c.dim,
               plot.strip_name, {1, 0.5F});
    hatch(all, c.edge);
    for (std::size_t i = 0; i < plot.strip.size(); ++i) {
      const Rectangle box = span_place(plot.strip[i], view);
      fill(box, plot.strip[i].colour, px(2));
      note_part(fmt::format("strip/{}", i), box, plot.strip[i].tip);
    }
  }
};

}  // namespace

float PlotView::x(double value) const {
  return pixel(part_of(value, left, right, x_scale), area.minimum.x, area.maximum.x);
}

float PlotView::y(double value) const {
  return pixel(part_of(value, bottom, top, y_scale), area.maximum.y, area.minimum.y);
}

ImVec2 PlotView::inside(double x_value, double y_value) const { return area.nearest(at(x_value, y_value)); }

double PlotView::value_at_x(float x) const {
  const auto part = static_cast<double>((x - area.minimum.x) / area.width());
  return x_scale == PlotAxis::Scale::linear ? left + (right - left) * part
                                            : left * std::pow(right / left, part);
}

PlotView lay_out_plot(const Plot& plot, const Rectangle& room) {
  const PlotRange all = {plot.x.low, plot.x.high, plot.y.low, plot.y.high};
  return PlotFrame{plot, room, {all, room, plot.x.scale, plot.y.scale}}.lay_out();
}

ImU32 plot_ground(const Plot& plot) {
  const style::Palette& c = style::colours();
  return plot.is_area ? c.panel : style::mix(c.panel, c.background, 0.7F);
}

void draw_plot_frame(const Plot& plot, const Rectangle& room, const PlotView& seen) {
  PlotFrame{plot, room, seen}.draw();
}

Rectangle span_place(const PlotSpan& span, const PlotView& seen) {
  const float top = seen.area.maximum.y + px(6);
  const float left = seen.inside(span.from, seen.bottom).x;
  return {{left, top},
          {std::max(seen.inside(span.to, seen.bottom).x - px(1), left + 1), top + px(strip_height)}};
}

void draw_plot_marker(ImVec2 at, const PlotLook& look) {
  if (look.hollow) {
    draw_plot_marker(at, {.colour = look.colour, .marker = look.marker, .size = look.size + 0.5F});
    return draw_plot_marker(
        at,
        {.colour = style::colours().panel, .marker = look.marker, .size = std::max(look.size - 1.5F, 1.0F)});
  }
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const float size = px(look.size);
  const ImU32 ink = look.colour;
  const auto point = [&](float x, float y) { return at + ImVec2(x, y) * size; };
  switch (look.marker) {
    case PlotMarker::none:
      return;
    case PlotMarker::circle:
      return list->AddCircleFilled(at, size, ink);
    case PlotMarker::ring:
      list->AddCircleFilled(at, size, style::colours().panel);
      return list->AddCircle(at, size, ink, 0, px(look.width));
    case PlotMarker::square:
      return fill({point(-1, -1), point(1, 1)}, ink);
    case PlotMarker::up:
      return list->AddTriangleFilled(point(-1, 1), point(1, 1), point(0, -1), ink);
    case PlotMarker::down:
      return list->AddTriangleFilled(point(-1, -1), point(1, -1), point(0, 1), ink);
    case PlotMarker::diamond:
      return list->AddQuadFilled(point(-1, 0), point(0, -1), point(1, 0), point(0, 1), ink);
    case PlotMarker::lozenge:
      return list->AddQuad(point(-1, 0), point(0, -1), point(1, 0), point(0, 1), ink, px(1.5F));
    case PlotMarker::cross:
      list->AddLine(point(-1, -1), point(1, 1), ink, px(1.5F));
      return list->AddLine(point(-1, 1), point(1, -1), ink, px(1.5F));
    case PlotMarker::dash:
      return list->AddLine(point(-1, 0), point(1, 0), ink, px(style::line));
    case PlotMarker::handle:
      fill({point(-2, -1), point(2, 1)}, style::colours().panel, size);
      outline({point(-2, -1), point(2, 1)}, ink, size, px(style::lit_line));
      list->AddCircleFilled(at, size / 2, ink);
      for (const float side : {-1.0F, 1.0F}) {
        const ImVec2 tip = point(side * 1.4F, 0);
        const float base = tip.x - side * size / 2;
        list->AddTriangleFilled(tip, {base, at.y - size / 2}, {base, at.y + size / 2}, ink);
      }
  }
}

std::vector<PlotTick> plot_ticks(const PlotAxis& axis, double low, double high, float length, float room) {
  std::vector<PlotTick> ticks;
  const int most = std::max(1, static_cast<int>(length / std::max(room, 1.0F)));
  if (axis.has_round) {
    ticks = axis.scale == PlotAxis::Scale::linear
                ? linear_ticks(axis, low, high, static_cast<double>(length), most)
                : power_ticks(axis, axis.scale == PlotAxis::Scale::octaves ? 2 : 10, low, high, length, most);
  }
  std::erase_if(ticks, [&](const PlotTick& tick) { return axis.gap && tick.at < *axis.gap; });
  for (const PlotTick& tick : axis.named) {
    if (tick.at >= low && tick.at <= high) ticks.push_back(tick);
  }
  return ticks;
}

}  // namespace palimpsest
