#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "app/views/measure.h"
#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "app/widgets/tooltip_place.h"

// The roofline of the leading report: what its machine can do, and what each curve makes of it at its end.

namespace palimpsest {

namespace {

using style::px;

constexpr float numbers_width = 40;
constexpr float below_chart = 34;
constexpr float point_size = 4;
constexpr std::size_t most_told = 2;  // shares in the sentence

/// A curve's longest point under its roof.
struct UnderRoof {
  const RaceLine* line;
  const RacePoint* point;
  double intensity = 0;  // FLOPs per byte that must be moved
  double rate = 0;       // FLOPs per second
  double share = 0;      // of what the machine can do
};

/// Whether there is a place for it in a chart: what a machine does is neither nothing nor without end.
bool is_drawn(double number) { return number > 1e-60 && number < 1e60; }

std::vector<UnderRoof> points_under(const MeasuredNow& now) {
  std::vector<UnderRoof> all;
  for (const RaceLine& line : now.lines()) {
    if (line.points.empty()) continue;
    const RacePoint& point = line.points.back();
    const double intensity = point.work.needed_flops / point.work.bytes;
    const double rate = point.work.needed_flops / point.compute.median;
    if (!is_drawn(intensity) || !is_drawn(rate)) continue;
    all.push_back({&line, &point, intensity, rate, roof_fraction(point, *now.lead().report)});
  }
  return all;
}

/// The roofs that the points stand under, one of each device and precision.
std::vector<const RaceRoof*> roofs_of(const MeasuredNow& now) {
  std::vector<const RaceRoof*> all;
  for (const RaceRoof& roof : now.lead().report->roofs) {
    const bool is_used = std::ranges::any_of(now.lines(), [&](const RaceLine& line) {
      return line.of.device == roof.device && line.of.precision == roof.precision;
    });
    const double ridge = roof.roof.flops_per_second / roof.roof.bytes_per_second;
    if (is_used && is_drawn(roof.roof.flops_per_second) && is_drawn(ridge)) all.push_back(&roof);
  }
  return all;
}

/// The sides of the chart, at powers of ten.
struct RoofRange {
  double left = 1;
  double right = 100;
  double bottom = 1e9;
  double top = 1e11;
};

RoofRange range_of(const std::vector<UnderRoof>& points, const std::vector<const RaceRoof*>& roofs) {
  RoofRange range = {.left = 1e300, .right = 0, .bottom = 1e300, .top = 0};
  for (const UnderRoof& each : points) {
    range.left = std::min(range.left, each.intensity / 2);
    range.right = std::max(range.right, each.intensity * 2);
    range.bottom = std::min(range.bottom, each.rate / 2);
    range.top = std::max(range.top, each.rate);
  }
  for (const RaceRoof* const roof : roofs) {
    const double ridge = roof->roof.flops_per_second / roof->roof.bytes_per_second;
    range.left = std::min(range.left, ridge / 8);  // so that the slope is seen
    range.right = std::max(range.right, ridge * 4);
    range.bottom = std::min(range.bottom, roof->roof.flops_per_second / 12);
    range.top = std::max(range.top, roof->roof.flops_per_second);
  }
  if (range.top == 0) return {};
  range.top *= 2;
  return range;
}

/// A rate in a unit: "62.9", "1234".
std::string rate_words(double rate, const RateUnit& unit) {
  const double number = rate / unit.flops_per_second;
  return number < 999.5 ? fmt::format("{:.3g}", number) : fmt::format("{:.0f}", number);
}

/// "62 %", "4.1 %".
std::string share_words(double share) {
  return share >= 0.0995 ? fmt::format("{:.0f} %", 100 * share) : fmt::format("{:.1f} %", 100 * share);
}

class RoofChart {
 public:
  RoofChart(const MeasuredNow& now, std::vector<UnderRoof> points, ImVec2 from, ImVec2 to)
      : now_(now), points_(std::move(points)), roofs_(roofs_of(now)) {
    const RoofRange range = range_of(points_, roofs_);
    axes_ = {.from = {from.x + px(numbers_width), from.y},
             .to = {to.x, to.y - px(below_chart)},
             .left = std::log10(range.left),
             .right = std::log10(range.right),
             .bottom = range.bottom,
             .top = range.top,
             .logarithmic = true};
    unit_ = rate_unit(range.top);
  }

  const RateUnit& unit() const { return unit_; }

  void draw() {
    if (axes_.to.y - axes_.from.y < px(40)) return;
    draw_axes();
    for (const UnderRoof& each : points_) {
      const ImVec2 at = place(each);
      const float reach = px(point_size + 1);
      taken_.push_back({{at.x - reach, at.y - reach}, {at.x + reach, at.y + reach}});
    }
    for (const RaceRoof* const roof : roofs_) draw_roof(*roof);
    for (const UnderRoof& each : points_) draw_point(each);
  }

 private:
  ImVec2 place(double intensity, double rate) const {
    return {axes_.x(std::log10(intensity)), axes_.y(rate)};
  }
  ImVec2 place(const UnderRoof& each) const { return place(each.intensity, each.rate); }

  void draw_axes() {
    const style::Palette& c = style::colours();
    const ImU32 grid = style::mix(c.panel, c.edge, 0.75F);
    list_->AddRectFilled(axes_.from, axes_.to, style::mix(c.panel, c.background, 0.75F));
    const style::TextStyle text(style::Text::number_small);
    const float height = text_extent("0").y;
    float last = axes_.to.y + px(40);
    for (double rate = std::pow(10, std::ceil(std::log10(axes_.bottom))); rate <= axes_.top; rate *= 10) {
      const float y = std::round(axes_.y(rate));
      if (last - y < height + px(2)) continue;
      list_->AddLine({axes_.from.x, y}, {axes_.to.x, y}, grid);
      const std::string words = rate_words(rate, unit_);
      draw_text({axes_.from.x - px(8) - text_extent(words).x, y - height / 2}, c.dim, words);
      last = y;
    }
    float end = axes_.from.x - px(40);
    for (double power = std::ceil(axes_.left); power <= axes_.right; ++power) {
      const float x = std::round(axes_.x(power));
      const std::string words = fmt::format("{:g}", std::pow(10, std::round(power)));
      const float width = text_extent(words).x;
      const float left = std::min(x - width / 2, axes_.to.x - width);
      if (left < end + px(6)) continue;
      list_->AddLine({x, axes_.from.y}, {x, axes_.to.y}, grid);
      draw_text({left, axes_.to.y + px(3)}, c.dim, words);
      end = left + width;
    }
    const style::TextStyle caption(style::Text::caption);
    const std::string title =
        shortened("FLOPs per byte that must be moved", axes_.to.x - axes_.from.x + px(numbers_width));
    draw_text(
        {std::min((axes_.from.x + axes_.to.x - text_extent(title).x) / 2, axes_.to.x - text_extent(title).x),
         axes_.to.y + px(18)},
        c.dim, title);
  }

  void draw_roof(const RaceRoof& roof) {
    const style::Palette& c = style::colours();
    const Roof& most = roof.roof;
    const double ridge = most.flops_per_second / most.bytes_per_second;
    const bool dashed = roof.device != "cpu";
    const double left = std::pow(10, axes_.left);
    const double right = std::pow(10, axes_.right);
    const auto line = [&](ImVec2 from, ImVec2 to) {
      if (dashed)
        dashed_line(list_, from, to, c.dim, px(1.5F));
      else
        list_->AddLine(from, to, c.dim, px(1.5F));
    };
    list_->PushClipRect(axes_.from, axes_.to, true);
    const ImVec2 top = place(ridge, most.flops_per_second);
    const ImVec2 foot = place(left, left * most.bytes_per_second);
    line(foot, top);
    line(top, place(right, most.flops_per_second));
    list_->PopClipRect();
    keep_clear(foot, top);
    keep_clear(top, place(right, most.flops_per_second));
    const style::TextStyle text(style::Text::caption);
    const std::string prefix =
        roofs_.size() > 1 ? fmt::format("{} {} ", roof.device, name(roof.precision)) : "";
    const std::string flat =
        fmt::format("{}{} {}", prefix, rate_words(most.flops_per_second, unit_), unit_.name);
    const ImVec2 extent = text_extent(flat);
    for (const float y :
         {top.y - extent.y - px(3), top.y + px(3), top.y - extent.y - px(16), top.y - extent.y - px(30)}) {
      if (label({axes_.to.x - px(6) - extent.x, y}, flat, c.dim)) break;
    }
    // Below the slope, where it is in the chart.
    const double bytes = most.bytes_per_second;
    const std::string slope =
        bytes < 9.995e11 ? fmt::format("{:.3g} GB/s", bytes / 1e9) : fmt::format("{:.3g} TB/s", bytes / 1e12);
    const double low = std::max(left, axes_.bottom / most.bytes_per_second);
    const ImVec2 middle = place(std::sqrt(low * ridge), std::sqrt(low * ridge) * most.bytes_per_second);
    label({middle.x + px(10), middle.y + px(2)}, slope, c.dim);
  }

  /// No words lie over this line.
  void keep_clear(ImVec2 from, ImVec2 to) {
    const float half = px(2);
    const int steps = static_cast<int>(std::hypot(to.x - from.x, to.y - from.y) / px(4)) + 1;
    for (int i = 0; i <= steps; ++i) {
      const float part = static_cast<float>(i) / static_cast<float>(steps);
      const ImVec2 at = {from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part};
      taken_.push_back({{at.x - half, at.y - half}, {at.x + half, at.y + half}});
    }
  }

  /// Words that keep clear of others; left out where there is no room.
  bool label(ImVec2 at, const std::string& words, ImU32 colour) {
    const ImVec2 extent = text_extent(words);
    const Rectangle box = {at, {at.x + extent.x, at.y + extent.y}};
    const bool is_inside = box.minimum.x >= axes_.from.x && box.maximum.x <= axes_.to.x + 1 &&
                           box.minimum.y >= axes_.from.y && box.maximum.y <= axes_.to.y;
    if (!is_inside ||
        std::ranges::any_of(taken_, [&](const Rectangle& other) { return overlap(box, other); }))
      return false;
    draw_text(at, colour, words);
    taken_.push_back(box);
    measure_map().roof_labels.push_back(box);
    measure_map().roof_words.push_back(words);
    return true;
  }

  void draw_point(const UnderRoof& each) {
    const style::Palette& c = style::colours();
    const CurveLook look = look_of(*each.line, now_, true);
    const ImVec2 at = place(each);
    if (look.dashed)
      list_->AddCircle(at, px(point_size), look.colour, 0, px(2));
    else
      list_->AddCircleFilled(at, px(point_size), look.colour);
    const style::TextStyle text(style::Text::caption);
    const std::string words = short_enough(each.line->name, 0) + " " + rate_words(each.rate, unit_);
    const ImVec2 extent = text_extent(words);
    const float gap = px(point_size + 5);
    const ImVec2 tried[] = {{at.x - gap - extent.x, at.y - extent.y / 2},
                            {at.x + gap, at.y - extent.y / 2},
                            {at.x - extent.x / 2, at.y + gap},
                            {at.x - extent.x / 2, at.y - gap - extent.y},
                            {at.x - gap - extent.x, at.y + gap / 2},
                            {at.x + gap, at.y + gap / 2},
                            {at.x - gap - extent.x, at.y - extent.y - gap / 2},
                            {at.x - gap - extent.x, at.y + gap / 2 + extent.y}};
    for (const ImVec2 place : tried) {
      if (label(place, words, look.colour)) break;
    }
    const float reach = px(point_size + 4);
    const ImVec2 minimum = {at.x - reach, at.y - reach};
    const ImVec2 maximum = {at.x + reach, at.y + reach};
    if (!ImGui::IsWindowHovered() || !ImGui::IsMouseHoveringRect(minimum, maximum)) return;
    list_->AddCircle(at, px(point_size + 3), c.text, 0, px(1.5F));
    tooltip_beside(minimum, maximum, point_words(*each.point, now_.lead()));
  }

  const MeasuredNow& now_;
  std::vector<UnderRoof> points_;
  std::vector<const RaceRoof*> roofs_;
  Chart axes_ = {};
  RateUnit unit_ = {};
  ImDrawList* list_ = ImGui::GetWindowDrawList();
  std::vector<Rectangle> taken_;
};

/// "softmax reaches 60 %, the recurrent form 45 % of the roof."
std::string shares_sentence(std::vector<UnderRoof> points) {
  std::erase_if(points, [](const UnderRoof& each) { return !is_drawn(each.share); });
  if (points.empty()) return {};
  std::ranges::stable_sort(points, std::ranges::greater(), &UnderRoof::share);
  std::string words;
  for (std::size_t i = 0; i < std::min(points.size(), most_told); ++i) {
    const RaceLine& line = *points[i].line;
    const std::string name = short_enough(line.name, 0);
    words +=
        fmt::format("{}{} {} {}", i > 0 ? ", " : "", name, i > 0 ? "" : "uses", share_words(points[i].share));
  }
  if (!words.empty() && words.front() >= 'a' && words.front() <= 'z')
    words.front() = static_cast<char>(words.front() - 'a' + 'A');
  for (std::size_t at = words.find("  "); at != std::string::npos; at = words.find("  ")) words.erase(at, 1);
  return words + " of the roof.";
}

}  // namespace

void draw_measure_roof(Application& application) {
  measure_map().roof_labels.clear();
  measure_map().roof_words.clear();
  measure_map().roof_unit.clear();
  if (style::begin_panel("##measure roof", {0, 0},
                         ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse)) {
    const style::Palette& c = style::colours();
    const MeasuredNow& now = measured(application);
    const ImVec2 from = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    {
      const style::TextStyle text(style::Text::strong);
      draw_text(from, c.text, shortened("How much of the machine is used", room.x));
    }
    const style::TextStyle text(style::Text::caption);
    const ImVec2 below = {from.x, from.y + px(21)};
    if (!now.has_leading()) {
      draw_text(below, c.dim, shortened("Nothing is measured yet.", room.x));
    } else {
      std::vector<UnderRoof> points = points_under(now);
      std::string sentence = shares_sentence(points);
      if (sentence.empty()) {
        const bool comes = application.races.runs() && now.lead().from == SeenReport::From::own_race;
        sentence = comes ? "What the machine can do is measured next …"
                         : "What the machine can do was not measured.";
      }
      measure_map().roof_sentence = sentence;
      const float height = ImGui::CalcTextSize(sentence.c_str(), nullptr, false, room.x).y;
      RoofChart chart(now, std::move(points), {from.x, below.y + px(24)},
                      {from.x + room.x, from.y + room.y - height - px(9)});
      const char* const unit = chart.unit().name;
      measure_map().roof_unit = unit;
      draw_text({from.x + room.x - text_extent(unit).x, below.y}, c.dim, unit);
      draw_text(below, c.dim, shortened("each at its longest n", room.x - text_extent(unit).x - px(8)));
      chart.draw();
      ImGui::GetWindowDrawList()->AddText(ImGui::GetFont(), ImGui::GetFontSize(),
                                          {from.x, from.y + room.y - height}, c.text, sentence.c_str(),
                                          nullptr, room.x);
    }
    ImGui::Dummy({1, 1});  // pictures are no items
  }
  style::end_panel();
}

}  // namespace palimpsest
