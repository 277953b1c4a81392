#include "app/views/line_looks.h"
#include "app/views/measure.h"

// The charts of Measure: times over lengths on log axes; and the roofline of the primary report: what its
// machine can do, and what each curve reaches at its longest length.

namespace palimpsest {

namespace {

constexpr std::size_t most_crossings = 4;  // shown with their names
constexpr float ring_size = 6.5F;
constexpr float cross_step = 11;  // between crosses at one place, in design pixels

/// "chunkwise, cuda" of "chunkwise, C = 64, cuda".
std::string without_chunk(const std::string& curve) {
  const std::size_t chunk = curve.find(", C = ");
  if (chunk == std::string::npos) return curve;
  return curve.substr(0, chunk) + curve.substr(std::min(curve.find(',', chunk + 1), curve.size()));
}

struct RacePlot {
  Application& application;
  const MeasuredNow& now;
  const MeasureState& state = application.session.state().measure;
  Plot plot = {.name = "times", .strip_name = "fastest", .labels = Plot::Labels::beside, .explores = true};

  double value(const RacePoint& point, double seconds) const {
    return state.per_token ? seconds / static_cast<double>(point.entry.tokens) : seconds;
  }

  void set_lengths() {
    const std::set<Index> lengths = seen_lengths(application, now);
    PlotAxis& x = plot.x;
    x = {.title = {"n, tokens"},
         .scale = PlotAxis::Scale::octaves,
         .low = static_cast<double>(*lengths.begin()),
         .high = static_cast<double>(*lengths.rbegin()),
         .words = [](double tokens) { return in_digits(std::lround(tokens)); }};
    for (const Index tokens : lengths)
      x.named.push_back({.at = static_cast<double>(tokens), .words = in_digits(tokens)});
    if (lengths.size() > 1) return;
    x.low /= 2;
    x.high *= 2;
  }

  void set_times() {
    double least = 0;
    double most = 0;
    for (const auto& lines : now.figures ? now.figures->lines : std::vector<std::vector<RaceLine>>()) {
      for (const RacePoint& point : points_of(lines)) {
        const Quartiles& seconds = seconds_of(point, now.whole);
        const double low = value(point, seconds.low);
        least = least == 0 ? low : std::min(least, low);
        most = std::max(most, value(point, seconds.high));
      }
    }
    if (most == 0) {
      least = state.per_token ? 1e-7 : 1e-4;
      most = state.per_token ? 1e-4 : 1;
    }
    const double room = std::pow(most / least, 0.09);
    plot.y = {.title = {state.per_token ? "time of a token" : "time of a run"},
              .scale = PlotAxis::Scale::log10,
              .low = least / std::max(room, 1.25),
              .high = most * std::max(room, 1.5),
              .words = duration};
  }

  void add_legend() {
    const style::Palette& c = style::colours();
    const auto add = [&](bool is_there, const char* words, const PlotLook& look,
                         PlotKey::Sample sample = PlotKey::Sample::point) {
      if (is_there) plot.legend.push_back({words, look, sample});
    };
    const auto begins = [](const char* with) {
      return [with](const auto& drawn) { return drawn.name.starts_with(with); };
    };
    const auto is_hollow = [](const PlotSeries& series) { return series.look.hollow; };
    const bool are_mixed =
        std::ranges::any_of(plot.series, is_hollow) && !std::ranges::all_of(plot.series, is_hollow);
    PlotLook dot = {.colour = c.text, .marker = PlotMarker::circle, .size = 3.5F};
    add(are_mixed, "cpu", dot);
    dot.hollow = true;
    add(are_mixed, "gpu", dot);
    add(!plot.series.empty(), "middle half of the runs", {.colour = c.text}, PlotKey::Sample::band);
    add(std::ranges::any_of(plot.series, begins("others/")), "other reports",
        {.colour = style::mix(c.panel, c.text, 0.72F), .width = 1}, PlotKey::Sample::line);
    add(std::ranges::any_of(plot.marks, begins("ring/")), "curves cross",
        {.colour = c.good, .marker = PlotMarker::ring, .size = 4.5F});
    if (!now.has_leading()) return;
    std::set<Precision> used;
    for (const RaceLine& line : now.lines()) {
      if (!line.points.empty()) used.insert(line.of.precision);
    }
    for (const Precision precision : used)
      add(used.size() > 1, name(precision),
          {.colour = c.text, .marker = precision_marker(precision), .size = 3.5F});
    const auto has_missing = [&](const RaceLine& line) {
      return std::ranges::any_of(line.missing,
                                 [&](const RacePoint& point) { return is_seen_missing(line, point); });
    };
    add(std::ranges::any_of(now.lines(), has_missing), "not measured",
        {.colour = c.text, .marker = PlotMarker::cross});
  }

  /// The lengths that a running race here has not reached yet; a report made elsewhere is complete.
  void add_unmeasured() {
    Races& races = application.races;
    const std::shared_ptr<const RaceReport> own = races.own();
    if (!own || !now.may_grow(races) || races.left(application.session) == 0) return;
    Index reached = 0;
    for (const RacePoint& point : own->points) {
      if (now.selection.takes(point.entry)) reached = std::max(reached, point.entry.tokens);
    }
    const double from = std::max(static_cast<double>(reached), plot.x.low);
    if (from >= plot.x.high) return;
    const style::Palette& c = style::colours();
    const char* const how = races.runs() ? "fills from the left" : "“go on” measures it";
    plot.marks.push_back(
        {.kind = PlotMark::Kind::area,
         .name = "not measured yet",
         .x = from,
         .look = {.colour = c.edge},
         .hatch = 1,
         .label = {.words = {"not measured yet"}, .notes = {how}, .colour = c.dim, .is_needed = false},
         .wish = {0.5F, 0.88F}});
    plot.marks.push_back(upright_mark("", from, {.colour = c.edge, .width = style::line}));
  }

  void add_report(std::size_t report) {
    const bool leads = report == now.leading;
    Index longest = 0;
    for (const RaceLine& line : now.figures->lines[report]) {
      if (!line.points.empty()) longest = std::max(longest, line.points.back().entry.tokens);
    }
    for (const RaceLine& line : now.figures->lines[report]) {
      if (!line.points.empty()) add_curve(line, now.reports[report], leads, longest);
    }
  }

  void add_curve(const RaceLine& line, const SeenReport& report, bool leads, Index longest) {
    PlotSeries curve{.name = leads ? "leads/" + line.name : "others/" + report.name + "/" + line.name,
                     .look = curve_look(line.of, leads),
                     .band = leads ? 0.18F : 0.08F};
    for (const RacePoint& point : line.points) {
      const Quartiles& seconds = seconds_of(point, now.whole);
      curve.add(static_cast<double>(point.entry.tokens), value(point, seconds.median));
      curve.low.push_back(value(point, seconds.low));
      curve.high.push_back(value(point, seconds.high));
    }
    curve.tip = [&line, &report](std::size_t point) { return point_words(line.points[point], report); };
    const RacePoint& last = line.points.back();
    curve.label = {.words = {line.name, without_chunk(line.name)},
                   .value = duration(curve.y.back()),
                   .is_strong = leads};
    const std::string kernel = line.kernel ? name(*line.kernel) : "";
    const std::string length = last.entry.tokens < longest ? "at n = " + in_digits(last.entry.tokens) : "";
    const std::string both = length + (length.empty() || kernel.empty() ? "" : ", ") + kernel;
    if (!both.empty()) curve.label.notes = {both};
    if (!length.empty()) curve.label.notes.push_back(length);
    plot.series.push_back(std::move(curve));
    if (leads) add_missing(line, report);
  }

  /// Whether a missing point is visible: its curve has no other point at that length.
  bool is_seen_missing(const RaceLine& line, const RacePoint& point) const {
    const auto has_length = [&](const RacePoint& other) { return other.entry.tokens == point.entry.tokens; };
    const auto is_seen = [&](const PlotTick& tick) {
      return tick.at == static_cast<double>(point.entry.tokens);
    };
    return !line.points.empty() && std::ranges::none_of(line.points, has_length) &&
           std::ranges::any_of(plot.x.named, is_seen);
  }

  /// Crosses at the foot of the chart where a curve could not be measured further.
  void add_missing(const RaceLine& line, const SeenReport& report) {
    for (const RacePoint& point : line.missing) {
      if (!is_seen_missing(line, point)) continue;
      const auto x = static_cast<double>(point.entry.tokens);
      const auto below = std::ranges::count_if(plot.marks, [&](const PlotMark& other) {
        return other.look.marker == PlotMarker::cross && other.x == x;
      });
      PlotMark cross = point_mark(fmt::format("missing/{} {}", line.name, point.entry.tokens), x, plot.y.low,
                                  curve_look(line.of, true));
      cross.look.marker = PlotMarker::cross;
      cross.look.size = 3;
      cross.shift = {-6, -8 - cross_step * static_cast<float>(below)};
      cross.tip = point_words(point, report);
      plot.marks.push_back(std::move(cross));
    }
  }

  void add_change(const std::string& name, double at, const std::string& length, const std::string& words,
                  ImU32 colour) {
    plot.marks.push_back(upright_mark(name + "/" + words, at, {.colour = colour, .width = 1.5F, .dash = 5})
                             .labelled({.words = {length}, .notes = {words}, .is_strong = true}));
  }

  /// The lengths at which the fastest curve changes: where curves cross, and where a curve begins or ends.
  void add_changes() {
    const std::vector<RaceLine>& lines = now.lines();
    const std::vector<FastestSpan>& spans = now.figures->fastest;
    for (std::size_t i = 0; i + 1 < spans.size(); ++i) {
      const double at = spans[i].to;
      const RaceLine& after = lines[spans[i + 1].line];
      const auto is_at = [&](const RacePoint& point) {
        return static_cast<double>(point.entry.tokens) == at;  // exact: `at` is copied from a curve's end
      };
      const bool begins = is_at(after.points.front());
      const RaceLine& line = begins ? after : lines[spans[i].line];
      if (!begins && !is_at(line.points.back())) continue;  // they cross
      add_change("break", at, fmt::format("n = {} tokens", in_digits(std::lround(at))),
                 fmt::format("{} is measured {} here", line.name, begins ? "from" : "up to"),
                 style::colours().dim);
    }
    for (const NamedCrossing* const each : named()) {
      add_change("crossing", each->crossing.tokens,
                 fmt::format("n ≈ {} tokens", about(each->crossing.tokens)), each->words,
                 style::colours().good);
    }
  }

  /// The crossings with names: first those of the headline, then those where the fastest curve changes.
  std::vector<const NamedCrossing*> named() const {
    std::vector<const NamedCrossing*> all =
        made_of(now.figures->crossings, [](const NamedCrossing& each) { return &each; });
    std::ranges::stable_sort(
        all, {}, [](const NamedCrossing* each) { return std::pair(!each->is_told, !each->crossing.leads); });
    if (all.size() > most_crossings) all.resize(most_crossings);
    std::ranges::sort(all, {}, [](const NamedCrossing* each) { return each->crossing.tokens; });
    return all;
  }

  void add_rings() {
    for (const NamedCrossing* const crossing : named()) {
      const auto& [tokens, seconds] = std::pair(crossing->crossing.tokens, crossing->crossing.seconds);
      PlotMark ring =
          point_mark("ring/" + crossing->words, tokens, state.per_token ? seconds / tokens : seconds,
                     {.colour = style::colours().good,
                      .width = crossing->crossing.parts ? 2.25F : 1.5F,
                      .marker = PlotMarker::ring,
                      .size = ring_size});
      ring.tip = fmt::format("{}\n{}", crossing->sentence, crossing->where);
      plot.marks.push_back(std::move(ring));
    }
  }

  void add_fastest() {
    for (const FastestSpan& span : now.figures->fastest) {
      const RaceLine& line = now.lines()[span.line];
      plot.strip.push_back({span.from, span.to, curve_look(line.of, true).colour,
                            fmt::format("{} is fastest from n ≈ {} to {} tokens", line.name, about(span.from),
                                        about(span.to))});
    }
  }
};

constexpr std::size_t most_told = 2;  // shares named in the sentence

/// A curve's longest point under its roof.
struct UnderRoof {
  const RaceLine* line;
  const RacePoint* point;
  double intensity = 0;  // FLOPs per byte that must be moved
  double rate = 0;       // FLOPs per second
  double share = 0;      // of what the machine can do
};

/// Whether a log chart can show the number: it is neither 0 nor infinite.
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

/// The roofs of the points, one for each device and precision.
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

using Ends = std::ranges::minmax_result<double>;

std::pair<Ends, Ends> ends_of_roof(const std::vector<UnderRoof>& points,
                                   const std::vector<const RaceRoof*>& roofs) {
  std::vector<double> intensities;
  std::vector<double> rates;
  for (const UnderRoof& each : points) {
    intensities.insert(intensities.end(), {each.intensity / 2, each.intensity * 2});
    rates.insert(rates.end(), {each.rate / 2, each.rate * 2});
  }
  for (const RaceRoof* const roof : roofs) {
    const double most = roof->roof.flops_per_second;
    const double ridge = most / roof->roof.bytes_per_second;
    intensities.insert(intensities.end(), {ridge / 8, ridge * 4});  // so that the slope is visible
    rates.insert(rates.end(), {most / 12, most * 2});
  }
  if (rates.empty()) return {{1, 100}, {1e9, 1e11}};
  return {std::ranges::minmax(intensities), std::ranges::minmax(rates)};
}

void add_roof(Plot& plot, const RaceRoof& roof, const std::string& whose, const RateUnit& unit) {
  const Roof& most = roof.roof;
  const double ridge = most.flops_per_second / most.bytes_per_second;
  const PlotLook look = {
      .colour = style::colours().dim, .width = 1.5F, .dash = roof.device == "cpu" ? 0.0F : 5.0F};
  const double foot = std::max(plot.x.low, plot.y.low / most.bytes_per_second);
  const double bytes = most.bytes_per_second;
  const auto add = [&](const char* name, PlotMark line, std::string words, ImVec2 wish) {
    line.name = name + whose;
    plot.marks.push_back(std::move(line).labelled({.words = {std::move(words)}, .is_needed = false}, wish));
  };
  add("roof ", line_mark(ridge, most.flops_per_second, plot.x.high, most.flops_per_second, look),
      fmt::format("{}{} {}", whose.empty() ? "" : whose + " ", unit.words(most.flops_per_second), unit.name),
      {1, 0});
  add("slope ", line_mark(foot, foot * bytes, ridge, most.flops_per_second, look),
      bytes < 9.995e11 ? plain_number(bytes / 1e9) + " GB/s" : plain_number(bytes / 1e12) + " TB/s",
      {0.5F, 0.45F});
}

Plot roof_plot(const MeasuredNow& now, const std::vector<UnderRoof>& points) {
  const std::vector<const RaceRoof*> roofs = roofs_of(now);
  const auto [intensities, rates] = ends_of_roof(points, roofs);
  const RateUnit unit = rate_unit(rates.max);
  Plot plot{.name = "roof",
            .x = {.title = {"FLOPs per byte that must be moved"},
                  .scale = PlotAxis::Scale::log10,
                  .low = intensities.min,
                  .high = intensities.max,
                  .words = [](double at) { return plain_number(at); }},
            .y = {.title = {fmt::format("rate, {}", unit.name)},
                  .scale = PlotAxis::Scale::log10,
                  .low = rates.min,
                  .high = rates.max,
                  .words = [unit](double rate) { return unit.words(rate); }},
            .explores = true};
  for (const RaceRoof* const roof : roofs)
    add_roof(plot, *roof, roofs.size() > 1 ? fmt::format("{} {}", roof->device, name(roof->precision)) : "",
             unit);
  for (const UnderRoof& each : points) {
    PlotLook look = curve_look(each.line->of, true);
    look.marker = PlotMarker::circle;
    look.size = 4;
    plot.marks.push_back(
        point_mark(each.line->name, each.intensity, each.rate, look)
            .labelled(
                {.words = {without_chunk(each.line->name) + " " + unit.words(each.rate)}, .is_needed = false},
                {9, -7}));
    plot.marks.back().tip = point_words(*each.point, now.lead());
  }
  return plot;
}

/// "softmax reaches 60 %, the recurrent form 45 % of the roof."
std::string shares_sentence(std::vector<UnderRoof> points) {
  std::erase_if(points, [](const UnderRoof& each) { return !is_drawn(each.share); });
  if (points.empty()) return {};
  std::ranges::stable_sort(points, std::ranges::greater(), &UnderRoof::share);
  std::string words;
  for (std::size_t i = 0; i < std::min(points.size(), most_told); ++i) {
    words += fmt::format("{}{}{} {}", i > 0 ? ", " : "", without_chunk(points[i].line->name),
                         i > 0 ? "" : " uses", in_percent(points[i].share));
  }
  return capitalised(words) + " of the roof.";
}

}  // namespace

Plot race_plot(Application& application, const MeasuredNow& now) {
  RacePlot times{application, now};
  times.set_lengths();
  times.set_times();
  times.add_unmeasured();
  for (std::size_t i = now.figures ? now.reports.size() : 0; i-- > 0;) {
    if (i != now.leading) times.add_report(i);
  }
  if (now.has_leading()) {
    times.add_changes();
    times.add_report(now.leading);  // on top
    times.add_rings();
    times.add_fastest();
  }
  if (!application.tells_story()) times.add_legend();
  return std::move(times.plot);
}

Node measure_roof_panel(Application& application) {
  const MeasuredNow& now = measured(application);
  Node title = scene::heading("How much of the machine is used");
  if (!now.has_leading())
    return scene::column({std::move(title), scene::caption("Nothing is measured yet.")});
  const std::vector<UnderRoof> points = points_under(now);
  std::string sentence = shares_sentence(points);
  if (sentence.empty()) {
    sentence = application.races.runs() && now.is_own() ? "The limits of the machine are measured next …"
                                                        : "The limits of the machine were not measured.";
  }
  return scene::column({std::move(title), scene::note("each at its longest n"),
                        scene::plotted(roof_plot(now, points)).filling(),
                        scene::text(sentence, style::Text::caption).named("used")});
}

}  // namespace palimpsest
