#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "app/scene/draw.h"
#include "app/session/words.h"
#include "app/views/measure.h"

// Which reports are seen, and what their times hold.

namespace palimpsest {

namespace {

using scene::Mark;
using scene::Node;
using scene::Nodes;

/// "9 up to 1,024, 3 at 2,048": how many runs the median is of, by the lengths.
std::string runs_words(const std::vector<RaceLine>& lines) {
  std::map<Index, Index> runs;  // by length, the fewest
  for (const RaceLine& line : lines) {
    for (const RacePoint& point : line.points) {
      const auto [place, is_new] = runs.try_emplace(point.entry.tokens, point.repeats);
      if (!is_new) place->second = std::min(place->second, point.repeats);
    }
  }
  if (runs.empty()) return {};
  const auto by_count = [](const auto& one, const auto& other) { return one.second < other.second; };
  const auto [fewest, most] = std::minmax_element(runs.begin(), runs.end(), by_count);
  if (fewest->second == most->second)
    return fmt::format("median of {}", counted(most->second, "run", "runs"));
  return fmt::format("median of {} runs for short n, at least {} for long", most->second, fewest->second);
}

std::string warm_words(const std::vector<RaceLine>& lines) {
  bool all = true;
  Index longest = 0;
  for (const RaceLine& line : lines) {
    for (const RacePoint& point : line.points) {
      all = all && point.warmed;
      if (point.warmed) longest = std::max(longest, point.entry.tokens);
    }
  }
  if (all) return "a warm-up run before, not counted";
  return longest > 0 ? "a warm-up run before, not counted, where it is short"
                     : "no warm-up run: they took long";
}

std::string shapes_words(const RaceReport& report, const char* between) {
  std::vector<std::string> shapes;
  for (const RaceShape& shape : race_shapes(report)) shapes.push_back(in_words(shape));
  return fmt::format("{}", fmt::join(shapes, between));
}

std::string report_words(const SeenReport& report) {
  std::string told = report.from == SeenReport::From::own_race
                         ? "Measured on this machine since the program was started"
                         : report.name;
  told +=
      fmt::format("\n{} of {} points\n{}", std::ranges::count_if(report.report->points, &RacePoint::measured),
                  report.report->points.size(), shapes_words(*report.report, "\n"));
  if (!report.report->complete()) told += "\nnot complete: some points of its plan are not measured";
  if (report.from == SeenReport::From::file) told += "\n" + report.id;
  return told;
}

/// A report: its line, its name, a way to bring it to the front, a way to take it away.
Node report_row(Application& application, const MeasuredNow& now, std::size_t index) {
  const style::Palette& c = style::colours();
  const SeenReport& report = now.reports[index];
  const bool leads = now.has_leading() && index == now.leading;
  std::vector<RaceLine> curves;
  if (now.figures) {
    std::ranges::copy_if(now.figures->lines[index], std::back_inserter(curves),
                         [](const RaceLine& line) { return !line.points.empty(); });
  }
  const bool has_curves = !curves.empty();
  const bool is_gpu = has_curves && std::ranges::all_of(now.figures->lines[index], [](const RaceLine& line) {
                        return line.of.device != "cpu";
                      });
  Node line = {Mark{.kind = is_gpu ? Mark::Kind::dashes : Mark::Kind::line,
                    .ink = leads ? c.text : style::mix(c.panel, c.text, 0.72F),
                    .strong = leads}};
  const style::Text letters = leads ? style::Text::strong : style::Text::caption;
  const scene::Ink ink = has_curves ? c.text : c.dim;
  // The date goes first where there is little room: the tooltip has it.
  const std::string undated = report.name.substr(0, report.name.rfind(", 20"));
  Nodes row = {std::move(line),
               scene::first_that_fits({scene::text(report.name, letters, ink, scene::Fit::whole),
                                       scene::line(undated, letters, ink)})
                   .filling()
                   .named("name")
                   .told(report_words(report))};
  if (!leads || !has_curves) {
    row.push_back(
        scene::word_button(has_curves ? "to the front" : "show what it has")
            .on([&application, id = report.id, held = report.report] {
              SessionState next = application.session.state();
              next.measure.leading = id;
              show_what_it_has(next, *held);
              application.session.change(std::move(next));
            })
            .told(has_curves ? "The sentence, the crossings and the roofline are about the report in front."
                             : fmt::format("It has none of the curves that are looked at. It has {}.",
                                           shapes_words(*report.report, "; "))));
  }
  row.push_back(scene::word_button("×")
                    .on([&application, report] { application.races.take_away(application.session, report); })
                    .told(report.from == SeenReport::From::own_race
                              ? "Forgets what was measured here."
                              : "Takes this report out of sight; its file stays."));
  return scene::row(std::move(row)).named(std::to_string(index));
}

Node reports(Application& application, const MeasuredNow& now) {
  Nodes all = {scene::row(
      {scene::heading("Reports"), scene::rest(),
       scene::word_button("open…")
           .on([&application] { application.show_open = true; })
           .told("Opens a report of `palimpsest bench --json`; dropping its file does the same.")})};
  if (is_reading(now, application.races)) all.push_back(scene::caption("being read …"));
  for (std::size_t i = 0; i < now.reports.size(); ++i) all.push_back(report_row(application, now, i));
  if (!application.session.state().measure.away.empty()) {
    all.push_back(scene::word_button("bring back what ships").on([&application] {
      SessionState next = application.session.state();
      next.measure.away.clear();
      application.session.change(std::move(next));
    }));
  }
  return scene::column(std::move(all), scene::Gap::tight).named("reports");
}

/// Something that is in the times, or is not.
Node item(bool is_in, const std::string& words) {
  const style::Palette& c = style::colours();
  return Node{
      scene::Row{.nodes = {scene::mark(is_in ? Mark::Kind::tick : Mark::Kind::dash, is_in ? c.good : c.dim),
                           scene::text(words, style::Text::caption, is_in ? c.text : c.dim).filling()},
                 .gap = scene::Gap::small,
                 .on_top = true}};
}

Node contents(const MeasuredNow& now) {
  const RaceReport& report = *now.lead().report;
  Nodes all = {scene::heading("What is in these times")};
  if (const std::string runs = runs_words(now.lines()); !runs.empty()) {
    all.push_back(item(true, runs));
    all.push_back(item(true, warm_words(now.lines())));
  }
  std::set<std::string> devices;
  for (const RaceLine& line : now.lines()) devices.insert(line.of.device);
  all.push_back(item(true, "decays, masks, solves, reads and writes of the memory, all heads"));
  const bool has_gpu =
      std::ranges::any_of(devices, [](const std::string& device) { return device != "cpu"; });
  all.push_back(item(now.whole, now.whole ? "transfers and allocations"
                                : has_gpu ? "transfers and allocations: apart, at each point"
                                          : "transfers: the data lie where they are used"));
  all.push_back(item(false, "projections, norms, output gate"));
  all.push_back(item(false, "making the data, reading files, drawing"));
  for (const RaceTiming& timing : report.timing) {
    if (devices.size() > 1 || !devices.contains(timing.device)) continue;
    all.push_back(scene::word_button("more…").told(
        fmt::format("{}: {}.\n\nData: {}.", timing.device, timing.words, report.data)));
  }
  return scene::column(std::move(all), scene::Gap::tight).named("contents");
}

/// What was measured where: names, and what may be cut.
Node facts(const Application& application, const MeasuredNow& now) {
  const style::Palette& c = style::colours();
  const RaceReport& report = *now.lead().report;
  Nodes cells;
  const auto fact = [&](const std::string& name, const std::string& words, scene::Ink ink) {
    cells.push_back(scene::caption(name));
    cells.push_back(scene::line(words, style::Text::caption, ink).filling().right().named(name));
  };
  std::set<std::string> precisions;
  for (const RaceLine& line : now.lines()) precisions.insert(name(line.of.precision));
  std::string device =
      fmt::format("{}, {}", report.machine.processor, counted(report.machine.threads, "thread", "threads"));
  if (!report.machine.gpu.empty()) device = fmt::format("{} · {}", report.machine.gpu, device);
  fact("device", device, c.text);
  if (!report.machine.clocks.empty()) fact("clocks", report.machine.clocks, c.text);
  fact("program", report.machine.program, c.text);
  fact("precision", fmt::format("{}", fmt::join(precisions, ", ")), c.text);
  fact("shape", in_words(now.selection.shape), c.text);
  if (!report.starts.empty()) {
    const RaceStart& start = report.starts.back();
    fact("date", start.date, c.text);
    fact("command", start.command == "window" ? std::string("in this window") : start.command, c.text);
  }
  fact("checked", "not here: `verify` and Prove compare them", c.dim);
  for (const Backend* const backend : application.session.devices()) {
    const std::string reason = application.session.why_not_on(*backend, Form::recurrent, nullptr);
    if (!reason.empty()) fact(backend->name(), "cannot be used here: " + reason, c.alarm);
  }
  return scene::grid(2, std::move(cells)).named("facts");
}

}  // namespace

void draw_measure_side(Application& application) {
  if (style::begin_panel("##measure side")) {
    const MeasuredNow& now = measured(application);
    Nodes all = {reports(application, now)};
    if (now.has_leading()) {
      all.push_back(scene::rule());
      all.push_back(contents(now));
      all.push_back(scene::rule());
      all.push_back(facts(application, now));
    }
    scene::show(scene::column(std::move(all), scene::Gap::tight).named("side"));
  }
  style::end_panel();
}

}  // namespace palimpsest
