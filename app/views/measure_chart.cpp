#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "app/views/measure.h"
#include "app/widgets/chart.h"
#include "app/widgets/spread.h"
#include "app/widgets/text.h"
#include "app/widgets/tooltip_place.h"

// The chart of Measure: times over lengths, both as logarithms.

namespace palimpsest {

namespace {

using style::px;

// In design pixels.
constexpr float numbers_width = 58;   // left of the chart
constexpr float wide_labels = 196;    // right of it: what curves are called,
constexpr float narrow_labels = 174;  // in a narrow window
constexpr float wide_chart = 1000;
constexpr float below_chart = 62;  // the bar, the lengths and what they are
constexpr float legend_height = 24;
constexpr float bar_height = 9;
constexpr float point_size = 3.5F;
constexpr float ring_size = 6.5F;
constexpr float caught = 12;  // how near the pointer must come to a point
constexpr std::size_t most_named = 4;

/// A point of a curve on the screen.
struct DrawnPoint {
  ImVec2 at;
  const RacePoint* point;
  const SeenReport* report;
  ImU32 colour;
};

/// A piece of a curve, that words keep clear of.
struct CurvePiece {
  ImVec2 from;
  ImVec2 to;
};

/// A point of a curve, whose shape tells its precision.
void draw_point(ImDrawList* list, ImVec2 at, float size, const CurveLook& look) {
  const float half = size * 1.1F;
  switch (look.precision) {
    case Precision::f32:
      list->AddCircleFilled(at, size, look.colour);
      break;
    case Precision::bf16:
      list->AddRectFilled({at.x - half, at.y - half}, {at.x + half, at.y + half}, look.colour);
      break;
    case Precision::tf32:
      list->AddTriangleFilled({at.x - half, at.y + half}, {at.x + half, at.y + half}, {at.x, at.y - half},
                              look.colour);
      break;
    case Precision::f64:
      list->AddQuadFilled({at.x - half * 1.3F, at.y}, {at.x, at.y - half * 1.3F}, {at.x + half * 1.3F, at.y},
                          {at.x, at.y + half * 1.3F}, look.colour);
      break;
  }
}

void draw_cross(ImDrawList* list, ImVec2 at, ImU32 colour) {
  const float half = px(3);
  list->AddLine({at.x - half, at.y - half}, {at.x + half, at.y + half}, colour, px(1.5F));
  list->AddLine({at.x - half, at.y + half}, {at.x + half, at.y - half}, colour, px(1.5F));
}

/// Whether a piece, which runs to the right, touches a box.
bool crosses(const Rectangle& box, const CurvePiece& piece) {
  const float left = std::max(piece.from.x, box.minimum.x);
  const float right = std::min(piece.to.x, box.maximum.x);
  if (left > right) return false;
  const float width = piece.to.x - piece.from.x;
  const float slope = width > 0 ? (piece.to.y - piece.from.y) / width : 0;
  const float one = piece.from.y + slope * (left - piece.from.x);
  const float other = piece.from.y + slope * (right - piece.from.x);
  return std::max(one, other) > box.minimum.y && std::min(one, other) < box.maximum.y;
}

class RaceChart {
 public:
  RaceChart(Application& application, const MeasuredNow& now, ImVec2 from, ImVec2 to)
      : application_(application), now_(now), state_(application.session.state().measure) {
    const float labels = px(to.x - from.x >= px(wide_chart) ? wide_labels : narrow_labels);
    axes_.from = {from.x + px(numbers_width), from.y + px(legend_height)};
    axes_.to = {to.x - labels, to.y - px(below_chart)};
    axes_.logarithmic = true;
    right_ = to.x;
    legend_top_ = from.y;
    find_lengths();
    find_times();
  }

  bool has_room() const { return axes_.to.x - axes_.from.x > px(120) && axes_.to.y - axes_.from.y > px(80); }

  void draw() {
    draw_ground();
    draw_axes();
    draw_legend();
    draw_hatch();
    for (std::size_t i = now_.figures ? now_.reports.size() : 0; i-- > 0;) {  // the leading one on top
      if (i != now_.leading) draw_report(i);
    }
    if (now_.has_leading()) {
      draw_crossing_lines();
      draw_report(now_.leading);
      explain_hatch();
      draw_rings();
      name_crossings();
    } else {
      explain_hatch();
    }
    draw_ends();
    draw_fastest();
    answer_pointer();
  }

 private:
  double value(const RacePoint& point, double seconds) const {
    return state_.per_token ? seconds / static_cast<double>(point.entry.tokens) : seconds;
  }
  float x_of(double tokens) const { return axes_.x(std::log2(tokens)); }
  ImVec2 place(const RacePoint& point) const {
    return {x_of(static_cast<double>(point.entry.tokens)),
            axes_.y(value(point, seconds_of(point, now_.whole).median))};
  }

  /// Whether lengths of the wish come here: into what is measured here. A report that was made elsewhere has
  /// all that it will have.
  bool is_own() const {
    return now_.has_leading() ? now_.lead().from == SeenReport::From::own_race : application_.races.runs();
  }

  void find_lengths() {
    lengths_ = seen_lengths(application_, now_);
    axes_.left = std::log2(static_cast<double>(*lengths_.begin()));
    axes_.right = std::log2(static_cast<double>(*lengths_.rbegin()));
    if (lengths_.size() == 1) {
      axes_.left -= 1;
      axes_.right += 1;
    }
  }

  void find_times() {
    double least = 0;
    double most = 0;
    if (now_.figures) {
      for (const auto& lines : now_.figures->lines) {
        for (const RaceLine& line : lines) {
          for (const RacePoint& point : line.points) {
            const Quartiles& seconds = seconds_of(point, now_.whole);
            const double low = value(point, seconds.low);
            const double high = value(point, seconds.high);
            least = least == 0 ? low : std::min(least, low);
            most = std::max(most, high);
          }
        }
      }
    }
    if (most == 0) {
      least = state_.per_token ? 1e-7 : 1e-4;
      most = state_.per_token ? 1e-4 : 1;
    }
    const double room = std::pow(most / least, 0.09);
    axes_.bottom = least / std::max(room, 1.25);
    axes_.top = most * std::max(room, 1.5);
  }

  void draw_ground() {
    const style::Palette& c = style::colours();
    list_->AddRectFilled(axes_.from, axes_.to, style::mix(c.panel, c.background, 0.75F));
    measure_map().plot = {axes_.from, axes_.to};
  }

  void draw_axes() {
    const style::Palette& c = style::colours();
    const ImU32 grid = style::mix(c.panel, c.edge, 0.75F);
    const style::TextStyle text(style::Text::number_small);
    const float height = text_extent("0").y;
    for (int power = static_cast<int>(std::floor(std::log10(axes_.bottom)));
         power <= static_cast<int>(std::ceil(std::log10(axes_.top))); ++power) {
      const double decade = std::pow(10.0, power);
      for (int digit = 1; digit < 10; ++digit) {
        const double at = digit * decade;
        if (at < axes_.bottom || at > axes_.top) continue;
        const float y = std::round(axes_.y(at));
        if (digit > 1) {
          list_->AddLine({axes_.from.x - px(4), y}, {axes_.from.x, y}, c.edge);
          continue;
        }
        list_->AddLine({axes_.from.x, y}, {axes_.to.x, y}, grid);
        const std::string words = duration(decade);
        if (y + height / 2 > axes_.to.y) continue;  // there the bar has its name
        draw_text({axes_.from.x - px(10) - text_extent(words).x, y - height / 2}, c.dim, words);
      }
    }
    float end = axes_.from.x - px(100);
    const float below = axes_.to.y + px(bar_height + 12);
    for (const Index tokens : lengths_) {
      const float x = std::round(x_of(static_cast<double>(tokens)));
      list_->AddLine({x, axes_.from.y}, {x, axes_.to.y}, grid);
      const std::string words = in_digits(tokens);
      const float half = text_extent(words).x / 2;
      if (x - half < end + px(8)) continue;
      draw_text({x - half, below}, c.text, words);
      end = x + half;
    }
    const style::TextStyle caption(style::Text::caption);
    const char* const title = "n, tokens";
    draw_text({(axes_.from.x + axes_.to.x - text_extent(title).x) / 2, below + px(17)}, c.dim, title);
    list_->AddRect(axes_.from, axes_.to, grid);
  }

  /// What lines mean, above the chart.
  void draw_legend() {
    const style::Palette& c = style::colours();
    const style::TextStyle text(style::Text::caption);
    const float middle = legend_top_ + px(legend_height / 2) - px(2);
    const float top = middle - text_extent("x").y / 2;
    float x = axes_.from.x;
    const auto fits = [&](const std::string& words, float mark) {
      return x + px(mark + 8) + text_extent(words).x <= right_;
    };
    const auto sample = [&](const std::string& words, auto draw_mark) {
      constexpr float mark = 26;
      if (!fits(words, mark)) return;
      draw_mark(ImVec2{x, middle}, ImVec2{x + px(mark), middle});
      x += px(mark + 8);
      draw_text({x, top}, c.dim, words);
      x += text_extent(words).x + px(18);
      measure_map().legend.push_back(words);
    };
    const auto middle_of = [](ImVec2 from, ImVec2 to) { return ImVec2{(from.x + to.x) / 2, from.y}; };
    sample(state_.per_token ? "cpu, time of one token" : "cpu",
           [&](ImVec2 from, ImVec2 to) { list_->AddLine(from, to, c.text, px(2)); });
    sample("gpu", [&](ImVec2 from, ImVec2 to) { dashed_line(list_, from, to, c.text, px(2)); });
    sample("middle half of the runs", [&](ImVec2 from, ImVec2 to) {
      list_->AddRectFilled({from.x, from.y - px(5)}, {to.x, to.y + px(5)}, style::with_alpha(c.text, 0.18F));
    });
    if (now_.has_leading() && now_.reports.size() > 1) {
      sample("other reports", [&](ImVec2 from, ImVec2 to) {
        list_->AddLine(from, to, style::mix(c.panel, c.text, 0.72F), 1);
      });
    }
    sample("curves cross", [&](ImVec2 from, ImVec2 to) {
      list_->AddCircle(middle_of(from, to), px(4.5F), c.good, 0, px(2));
    });
    if (const std::set<Precision> used = precisions(); used.size() > 1) {
      for (const Precision precision : used) {
        sample(name(precision), [&](ImVec2 from, ImVec2 to) {
          draw_point(list_, middle_of(from, to), px(point_size), {.colour = c.text, .precision = precision});
        });
      }
    }
    if (has_missing())
      sample("not measured", [&](ImVec2 from, ImVec2 to) { draw_cross(list_, middle_of(from, to), c.text); });
  }

  /// From the longest length that the race here has reached on.
  void draw_hatch() {
    const std::shared_ptr<const RaceReport> own = application_.races.own();
    if (!own || !is_own() || application_.races.left(application_.session) == 0) return;
    Index reached = 0;
    for (const RacePoint& point : own->points) {
      if (now_.selection.takes(point.entry)) reached = std::max(reached, point.entry.tokens);
    }
    const float x = reached == 0 ? axes_.from.x : x_of(static_cast<double>(reached));
    if (x >= axes_.to.x - 1) return;
    const style::Palette& c = style::colours();
    hatch(list_, {x, axes_.from.y}, axes_.to, style::mix(c.panel, c.edge, 1.0F));
    list_->AddLine({x, axes_.from.y}, {x, axes_.to.y}, c.edge);
    measure_map().hatched_from = x;
    hatched_from_ = x;
  }

  /// Over the lines of crossings.
  void explain_hatch() {
    if (hatched_from_ < 0) return;
    const style::Palette& c = style::colours();
    const float x = hatched_from_;
    const style::TextStyle text(style::Text::caption);
    const bool runs = application_.races.runs();
    const std::string words[] = {"not measured yet", runs ? "fills from the left" : "“go on” measures it"};
    float y = axes_.to.y - px(44);
    for (const std::string& line : words) {
      const ImVec2 extent = text_extent(line);
      const float left = (x + axes_.to.x - extent.x) / 2;
      if (left < x + px(6)) return;
      const Rectangle box = {{left - px(5), y - px(1)}, {left + extent.x + px(5), y + extent.y + px(1)}};
      list_->AddRectFilled(box.minimum, box.maximum, style::mix(c.panel, c.background, 0.75F));
      draw_text({left, y}, c.dim, line);
      taken_.push_back(box);
      y += extent.y + px(3);
    }
  }

  void draw_report(std::size_t report) {
    const bool leads = report == now_.leading;
    list_->PushClipRect({axes_.from.x - px(8), axes_.from.y}, {axes_.to.x + px(8), axes_.to.y}, true);
    for (const RaceLine& line : now_.figures->lines[report]) draw_curve(line, report, leads);
    list_->PopClipRect();
  }

  void draw_curve(const RaceLine& line, std::size_t report, bool leads) {
    const CurveLook look = look_of(line, now_, leads);
    std::vector<ImVec2> places;
    for (const RacePoint& point : line.points) places.push_back(place(point));
    for (std::size_t i = 0; i + 1 < places.size(); ++i) {
      const RacePoint& left = line.points[i];
      const RacePoint& right = line.points[i + 1];
      const auto edge = [&](const RacePoint& point, double Quartiles::*part) {
        return ImVec2{x_of(static_cast<double>(point.entry.tokens)),
                      axes_.y(value(point, seconds_of(point, now_.whole).*part))};
      };
      list_->AddQuadFilled(edge(left, &Quartiles::low), edge(left, &Quartiles::high),
                           edge(right, &Quartiles::high), edge(right, &Quartiles::low),
                           style::with_alpha(look.colour, leads ? 0.18F : 0.08F));
      pieces_.push_back({places[i], places[i + 1]});
      if (look.dashed) dashed_line(list_, places[i], places[i + 1], look.colour, px(look.width));
    }
    if (!look.dashed && places.size() > 1)
      list_->AddPolyline(places.data(), static_cast<int>(places.size()), look.colour, px(look.width));
    for (std::size_t i = 0; i < places.size(); ++i) {
      draw_point(list_, places[i], px(leads ? point_size : 2.0F), look);
      points_.push_back({places[i], &line.points[i], &now_.reports[report], look.colour});
      if (leads)
        measure_map().points.push_back(places[i]);
      else
        ++measure_map().thin_points;
    }
    if (leads && !line.points.empty()) draw_missing(line, report, look.colour);
  }

  /// Whether nothing else of its curve stands at the length of a point that is missing.
  bool is_seen_missing(const RaceLine& line, const RacePoint& point) const {
    const auto has_length = [&](const RacePoint& other) { return other.entry.tokens == point.entry.tokens; };
    return !line.points.empty() && std::ranges::none_of(line.points, has_length) &&
           lengths_.contains(point.entry.tokens);
  }

  /// Whether there are crosses at the foot of the chart.
  bool has_missing() const {
    return now_.has_leading() && std::ranges::any_of(now_.lines(), [&](const RaceLine& line) {
             return std::ranges::any_of(line.missing,
                                        [&](const RacePoint& point) { return is_seen_missing(line, point); });
           });
  }

  /// The precisions of the leading curves, in the order of the language.
  std::set<Precision> precisions() const {
    std::set<Precision> all;
    if (!now_.has_leading()) return all;
    for (const RaceLine& line : now_.lines()) {
      if (!line.points.empty()) all.insert(line.of.precision);
    }
    return all;
  }

  /// Crosses at the foot of the chart where a curve could not be measured further.
  void draw_missing(const RaceLine& line, std::size_t report, ImU32 colour) {
    for (const RacePoint& point : line.missing) {
      if (!is_seen_missing(line, point)) continue;
      const float step = px(11);
      ImVec2 at = {x_of(static_cast<double>(point.entry.tokens)) - px(6), axes_.to.y - px(8)};
      while (std::ranges::any_of(points_, [&](const DrawnPoint& other) {
        return !other.point->measured() && std::abs(other.at.x - at.x) < 1 &&
               std::abs(other.at.y - at.y) < step / 2;
      }))
        at.y -= step;
      draw_cross(list_, at, colour);
      points_.push_back({at, &point, &now_.reports[report], colour});
    }
  }

  ImVec2 place(const NamedCrossing& crossing) const {
    const auto& [tokens, seconds] = std::pair(crossing.crossing.tokens, crossing.crossing.seconds);
    return {x_of(tokens), axes_.y(state_.per_token ? seconds / tokens : seconds)};
  }

  /// Those that are named, as far as there is room: first what the headline tells, then who takes the lead.
  std::vector<const NamedCrossing*> named() const {
    std::vector<const NamedCrossing*> all;
    for (const NamedCrossing& each : now_.figures->crossings) all.push_back(&each);
    std::ranges::stable_sort(
        all, {}, [](const NamedCrossing* each) { return std::pair(!each->is_told, !each->crossing.leads); });
    const std::size_t most = axes_.to.x - axes_.from.x > px(700) ? most_named : most_named - 1;
    if (all.size() > most) all.resize(most);
    std::ranges::sort(all, {}, [](const NamedCrossing* each) { return each->crossing.tokens; });
    return all;
  }

  /// A length at which something changes, by its name.
  struct NamedPlace {
    float x = 0;
    std::string length;
    std::string words;
    ImU32 colour = 0;
  };

  /// Where the lead changes and nothing crosses: a curve begins or ends there.
  std::vector<NamedPlace> breaks() const {
    std::vector<NamedPlace> all;
    const std::vector<RaceLine>& lines = now_.lines();
    const std::vector<FastestSpan>& spans = now_.figures->fastest;
    for (std::size_t i = 0; i + 1 < spans.size(); ++i) {
      const double at = spans[i].to;
      const RaceLine& after = lines[spans[i + 1].line];
      const auto is_at = [&](const RacePoint& point) {
        return static_cast<double>(point.entry.tokens) == at;  // ends of curves are handed on as they are
      };
      const bool begins = is_at(after.points.front());
      const RaceLine& line = begins ? after : lines[spans[i].line];
      if (!begins && !is_at(line.points.back())) continue;  // they cross
      all.push_back({std::round(x_of(at)), fmt::format("n = {} tokens", in_digits(std::lround(at))),
                     fmt::format("{} is measured {} here", line.name, begins ? "from" : "up to"),
                     style::colours().dim});
    }
    return all;
  }

  std::vector<NamedPlace> named_places() const {
    std::vector<NamedPlace> all = breaks();
    for (const NamedCrossing* const each : named()) {
      all.push_back({std::round(place(*each).x), fmt::format("n ≈ {} tokens", about(each->crossing.tokens)),
                     each->words, style::colours().good});
    }
    return all;
  }

  void draw_crossing_lines() {
    for (const NamedPlace& each : named_places())
      dashed_line(list_, {each.x, axes_.from.y}, {each.x, axes_.to.y + px(4)}, each.colour, px(1.5F));
  }

  void draw_rings() {
    const style::Palette& c = style::colours();
    for (const NamedCrossing& each : now_.figures->crossings) {
      const ImVec2 at = place(each);
      list_->AddCircleFilled(at, px(ring_size), c.panel);
      list_->AddCircle(at, px(ring_size), c.good, 0, px(each.crossing.parts ? 2.25F : 1.5F));
      measure_map().rings.push_back(at);
      taken_.push_back({{at.x - px(ring_size + 2), at.y - px(ring_size + 2)},
                        {at.x + px(ring_size + 2), at.y + px(ring_size + 2)}});
    }
  }

  bool is_free(const Rectangle& box) const {
    return std::ranges::none_of(taken_, [&](const Rectangle& other) { return overlap(box, other); }) &&
           std::ranges::none_of(pieces_, [&](const CurvePiece& piece) { return crosses(box, piece); });
  }

  void name_crossings() {
    const style::Palette& c = style::colours();
    std::vector<float> lines;
    const std::vector<NamedPlace> places = named_places();
    for (const NamedPlace& each : places) lines.push_back(each.x);
    for (const NamedPlace& each : places) {
      const float x = each.x;
      const std::string& length = each.length;
      const style::TextStyle strong(style::Text::strong);
      const ImVec2 first = text_extent(length);
      ImVec2 second;
      {
        const style::TextStyle text(style::Text::caption);
        second = text_extent(each.words);
      }
      const ImVec2 size = {std::max(first.x, second.x), first.y + second.y + px(1)};
      const auto is_clear_of_lines = [&](const Rectangle& box) {
        return std::ranges::none_of(lines, [&](float other) {
          return other > box.minimum.x - px(3) && other < box.maximum.x + px(3);
        });
      };
      std::optional<ImVec2> found;
      std::vector<float> tops;
      for (float y = axes_.from.y + px(8); y + size.y < axes_.to.y - px(20); y += px(14)) tops.push_back(y);
      for (const bool may_cover_lines : {false, true}) {
        for (const float y : tops) {
          for (const float left : {x + px(8), x - px(8) - size.x}) {
            const Rectangle box = {{left, y}, {left + size.x, y + size.y}};
            if (found || left < axes_.from.x + px(2) || left + size.x > axes_.to.x - px(2)) continue;
            if (is_free(box) && (may_cover_lines || is_clear_of_lines(box))) found = box.minimum;
          }
        }
      }
      if (!found) continue;
      const Rectangle box = {*found, {found->x + size.x, found->y + size.y}};
      list_->AddRectFilled({box.minimum.x - px(3), box.minimum.y}, box.maximum,
                           style::with_alpha(style::mix(c.panel, c.background, 0.75F), 0.85F));
      draw_text(*found, each.colour, length);
      const style::TextStyle text(style::Text::caption);
      draw_text({found->x, found->y + first.y + px(1)}, each.colour, each.words);
      taken_.push_back({{box.minimum.x - px(10), box.minimum.y}, {box.maximum.x + px(10), box.maximum.y}});
      if (each.colour == c.good)
        measure_map().crossings.push_back({length + " " + each.words, box});
      else
        measure_map().breaks.push_back(length + " " + each.words);
    }
  }

  struct NamedEnd {
    std::string name;
    std::string time;
    std::string kernel;  // with what it was measured, where that is known
    std::string length;  // "at n = 2,048", where other curves are longer
    ImVec2 at = {};
    ImU32 colour = 0;
    bool leads = false;
  };

  /// The last points of all curves, the leading report's first.
  std::vector<NamedEnd> ends() const {
    std::vector<NamedEnd> all;
    if (!now_.figures) return all;
    const auto add = [&](std::size_t report) {
      const std::vector<RaceLine>& lines = now_.figures->lines[report];
      const bool leads = report == now_.leading;
      Index longest = 0;
      for (const RaceLine& line : lines) {
        if (!line.points.empty()) longest = std::max(longest, line.points.back().entry.tokens);
      }
      for (const RaceLine& line : lines) {
        if (line.points.empty()) continue;
        const RacePoint& last = line.points.back();
        all.push_back({line.name, duration(value(last, seconds_of(last, now_.whole).median)),
                       line.kernel ? name(*line.kernel) : "",
                       last.entry.tokens < longest ? "at n = " + in_digits(last.entry.tokens) : "",
                       place(last), look_of(line, now_, leads).colour, leads});
      }
    };
    if (now_.has_leading()) add(now_.leading);
    for (std::size_t i = 0; i < now_.reports.size(); ++i) {
      if (i != now_.leading) add(i);
    }
    return all;
  }

  /// What curves are called, beside the chart and on a line to where they end.
  void draw_ends() {
    const style::Palette& c = style::colours();
    const std::vector<NamedEnd> all = ends();
    if (all.empty()) return;
    const float left = axes_.to.x + px(26);
    const float room = axes_.to.y - axes_.from.y + px(12);
    const float caption = [] {
      const style::TextStyle text(style::Text::caption);
      return text_extent("x").y;
    }();
    const float body = [] {
      const style::TextStyle text(style::Text::strong);
      return text_extent("x").y;
    }();
    // Two lines each where there is room, else one.
    const float two = body + caption + px(5);
    const float one = body + px(2);
    const float thin = caption + px(2);
    const auto leading = static_cast<float>(std::ranges::count_if(all, &NamedEnd::leads));
    const float others = static_cast<float>(all.size()) - leading;
    const bool in_two_lines = leading * two + others * thin <= room;
    std::vector<WantedLabel> wanted;
    for (const NamedEnd& end : all) {
      const float height = !end.leads ? thin : in_two_lines ? two : one;
      wanted.push_back({end.at.y - (end.leads && in_two_lines ? body / 2 : height / 2), height});
    }
    const std::vector<float> tops = spread(wanted, axes_.from.y - px(8), axes_.to.y + px(4));
    for (std::size_t i = 0; i < tops.size(); ++i) {
      const NamedEnd& end = all[i];
      const bool split = end.leads && in_two_lines;
      const style::TextStyle text(end.leads ? style::Text::strong : style::Text::caption);
      const float line = text_extent("x").y;
      const float middle = tops[i] + (split ? body / 2 : wanted[i].height / 2);
      const bool is_at_side = end.at.x > axes_.to.x - px(3);
      const ImU32 leader = style::mix(c.panel, end.colour, end.leads ? 0.5F : 0.3F);
      if (!is_at_side) {
        dotted(end.at.x + px(7), axes_.to.x + px(4), end.at.y, leader);
      }
      list_->AddLine({std::max(axes_.to.x + px(5), end.at.x + px(5)), end.at.y}, {left - px(5), middle},
                     leader, px(1));
      std::string time = split ? std::string() : "  " + end.time;
      const std::string curve = short_enough(end.name, right_ - left - text_extent(time).x);
      const std::string with_length = time + " " + end.length;
      if (!split && !end.length.empty() && text_extent(curve + with_length).x <= right_ - left)
        time = with_length;
      const std::string shown = shortened(curve + time, right_ - left);
      draw_text({left, middle - line / 2}, legible(end.colour), shown);
      float bottom = middle + line / 2;
      float width = text_extent(shown).x;
      if (split) {
        const ImVec2 under = {left, tops[i] + body + px(1)};
        const ImVec2 extent = draw_time(end, under);
        width = std::max(width, extent.x);
        bottom = under.y + extent.y;
      }
      measure_map().ends.push_back({end.name,
                                    {{left, middle - line / 2}, {left + width, bottom}},
                                    shown,
                                    split ? end.kernel : "",
                                    end.length});
    }
    if (tops.size() == all.size()) return;
    const style::TextStyle text(style::Text::caption);
    draw_text({left, axes_.to.y + px(10)}, c.dim,
              shortened(fmt::format("and {} more", all.size() - tops.size()), right_ - left));
  }

  /// "340 ms  plain kernel", below the name of a curve.
  ImVec2 draw_time(const NamedEnd& end, ImVec2 at) {
    ImVec2 extent;
    {
      const style::TextStyle digits(style::Text::number_small);
      draw_text(at, legible(end.colour), end.time);
      extent = text_extent(end.time);
    }
    if (end.kernel.empty() && end.length.empty()) return extent;
    const style::TextStyle text(style::Text::caption);
    const float gap = px(8);
    const float room = right_ - at.x - extent.x - gap;
    const std::string both = end.length + (end.length.empty() || end.kernel.empty() ? "" : ", ") + end.kernel;
    const bool fits = end.length.empty() || text_extent(both).x <= room;
    const std::string shown = shortened(fits ? both : end.length, room);
    draw_text({at.x + extent.x + gap, at.y}, style::colours().dim, shown);
    return {extent.x + gap + text_extent(shown).x, std::max(extent.y, text_extent(shown).y)};
  }

  /// A thin report's colour is too faint for letters.
  static ImU32 legible(ImU32 colour) {
    const style::Palette& c = style::colours();
    return style::contrast(colour | IM_COL32_A_MASK, c.panel) >= style::least_contrast ? colour : c.dim;
  }

  void dotted(float from, float to, float y, ImU32 colour) {
    for (float x = from; x < to; x += px(6)) list_->AddCircleFilled({x, y}, px(0.8F), colour);
  }

  void draw_fastest() {
    const style::Palette& c = style::colours();
    const float top = axes_.to.y + px(6);
    const float bottom = top + px(bar_height);
    {
      const style::TextStyle text(style::Text::caption);
      const char* const words = "fastest";
      draw_text({axes_.from.x - px(10) - text_extent(words).x, (top + bottom - text_extent(words).y) / 2},
                c.dim, words);
    }
    hatch(list_, {axes_.from.x, top}, {axes_.to.x, bottom}, c.edge);
    if (!now_.has_leading()) return;
    const std::vector<RaceLine>& lines = now_.lines();
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    for (const FastestSpan& span : now_.figures->fastest) {
      const RaceLine& line = lines[span.line];
      const Rectangle box = {{x_of(span.from), top},
                             {std::max(x_of(span.to) - px(1), x_of(span.from) + 1), bottom}};
      list_->AddRectFilled(box.minimum, box.maximum, look_of(line, now_, true).colour, px(2));
      measure_map().spans.push_back(box);
      const bool is_under = ImGui::IsWindowHovered() && mouse.x >= box.minimum.x && mouse.x < box.maximum.x &&
                            mouse.y >= top - px(4) && mouse.y < bottom + px(4);
      if (is_under) {
        tooltip_beside(box.minimum, box.maximum,
                       fmt::format("{} is fastest from n ≈ {} to {} tokens", line.name, about(span.from),
                                   about(span.to)));
      }
    }
  }

  /// Says all of the point, or the crossing, that the pointer is nearest to.
  void answer_pointer() {
    if (!ImGui::IsWindowHovered()) return;
    const style::Palette& c = style::colours();
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const auto distance = [&](ImVec2 at) { return std::hypot(at.x - mouse.x, at.y - mouse.y); };
    const DrawnPoint* nearest = nullptr;
    for (const DrawnPoint& each : points_) {
      if (distance(each.at) < px(caught) && (!nearest || distance(each.at) <= distance(nearest->at)))
        nearest = &each;
    }
    if (now_.has_leading()) {
      for (const NamedCrossing& each : now_.figures->crossings) {
        const ImVec2 at = place(each);
        if (distance(at) > px(caught) || (nearest && distance(nearest->at) < distance(at))) continue;
        const float reach = px(ring_size + 3);
        const std::string words = fmt::format("{}\n{}", each.sentence, each.where);
        measure_map().hovered = words;
        tooltip_beside({at.x - reach, at.y - reach}, {at.x + reach, at.y + reach}, words);
        return;
      }
    }
    if (!nearest) return;
    list_->AddCircle(nearest->at, px(point_size + 4), c.text, 0, px(1.5F));
    const float reach = px(point_size + 6);
    measure_map().hovered = point_words(*nearest->point, *nearest->report);
    tooltip_beside({nearest->at.x - reach, nearest->at.y - reach},
                   {nearest->at.x + reach, nearest->at.y + reach}, measure_map().hovered);
  }

  Application& application_;
  const MeasuredNow& now_;
  const MeasureState& state_;
  ImDrawList* list_ = ImGui::GetWindowDrawList();
  Chart axes_ = {};
  float right_ = 0;  // of the labels
  float legend_top_ = 0;
  float hatched_from_ = -1;
  std::set<Index> lengths_;
  std::vector<DrawnPoint> points_;
  std::vector<CurvePiece> pieces_;
  std::vector<Rectangle> taken_;
};

}  // namespace

std::string short_enough(const std::string& curve, float width) {
  if (text_extent(curve).x <= width) return curve;
  const std::size_t chunk = curve.find(", C = ");
  if (chunk == std::string::npos) return curve;
  const std::size_t end = std::min(curve.find(',', chunk + 1), curve.size());
  const std::string shown = curve.substr(0, chunk) + curve.substr(end);
  return shown;
}

void draw_race_chart(Application& application, const MeasuredNow& now, ImVec2 from, ImVec2 to) {
  RaceChart chart(application, now, from, to);
  if (chart.has_room()) chart.draw();
}

}  // namespace palimpsest
