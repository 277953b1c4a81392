#include "app/views/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "app/gl/context_local.h"
#include "app/scene/draw.h"
#include "app/scene/window.h"
#include "app/views/floor.h"
#include "app/widgets/text.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

using scene::Fit;
using scene::Node;
using scene::Nodes;

constexpr float words_top = 9;  // in the floor
constexpr float words_height = 33;

std::string cannot_say(const MeasuredNow& now, const Application& application) {
  if (application.races.runs()) return "The first points are being measured …";
  if (is_reading(now, application.races)) return "The reports that are there are being read …";
  if (now.reports.empty()) return "Nothing is measured yet: “measure” below starts a race on this machine.";
  return "None of the reports has these curves: “measure” races them here, or choose others.";
}

/// A headline with as many of its clauses as there is room for; the others stand first in what is said below.
Node headline(const std::string& sentence, const std::string& detail) {
  Nodes wishes;
  const auto add = [&](const std::string& shown, const std::string& below, Fit fit) {
    wishes.push_back(scene::column(
        {scene::text(shown, style::Text::title, 0, fit).named("headline"),
         Node{scene::Text{
                  .words = below, .style = style::Text::caption, .ink = scene::dim_ink, .most_lines = 3}}
             .named("detail")},
        scene::Gap::small));
  };
  add(sentence, detail, Fit::whole);
  for (std::size_t cut = sentence.rfind("; "); cut != std::string::npos && cut > 0;
       cut = sentence.rfind("; ", cut - 1))
    add(sentence.substr(0, cut) + ".", with_capital(sentence.substr(cut + 2)) + " " + detail, Fit::whole);
  add(sentence, detail, Fit::shorten);
  return scene::first_that_fits(std::move(wishes));
}

std::string answer(const MeasuredNow& now, const Application& application) {
  if (!now.has_leading()) return cannot_say(now, application);
  if (!now.figures->headline.empty()) return now.figures->headline;
  return application.races.runs() ? "More lengths are needed for an answer; they are being measured …"
                                  : "One curve alone has nothing to be compared with.";
}

/// What more there is to say, and where it was measured.
std::string detail(const MeasuredNow& now) {
  if (!now.has_leading()) return {};
  const SeenReport& lead = now.lead();
  const std::vector<RaceStart>& starts = lead.report->starts;
  const std::string date = starts.empty() ? "" : " " + starts.back().date.substr(0, 10);
  const std::string& figures = now.figures->detail;
  return fmt::format("{}{}Measured{}.", figures, figures.empty() ? "" : " ",
                     lead.from == SeenReport::From::own_race ? " here and now" : date + ", not here");
}

/// "Which is faster here?", or on the machine that the report in front was made on.
std::string question(const MeasuredNow& now) {
  if (!now.has_leading() || now.lead().from == SeenReport::From::own_race) return "Which is faster here?";
  return fmt::format("Which is faster on {}?", machine_words(*now.lead().report));
}

Node times_of_races(Application& application) {
  const MeasuredNow& now = measured(application);
  return scene::column({scene::row({scene::heading(question(now)).named("question"), scene::rest(),
                                    chart_switches(application, now)}),
                        headline(answer(now, application), detail(now)), race_controls(application),
                        scene::plotted(race_plot(application, now)).filling()},
                       scene::Gap::near);
}

}  // namespace

std::span<const Panel> measure_panels() {
  static constexpr Panel list[] = {
      {"Which is faster here?", PanelPlace::center, draw_measure},
      {"How much of the machine is used", PanelPlace::right_top, draw_measure_roof},
      {"What is in these times", PanelPlace::right_bottom, draw_measure_side},
      {"The text##measure", PanelPlace::bottom, draw_measure_floor},
  };
  return list;
}

bool is_reading(const MeasuredNow& now, const Races& races) {
  return now.reports.empty() && (races.reads() || !races.seen().empty());
}

const MeasuredNow& measured(Application& application) {
  struct KeptFigures {
    int frame = -1;
    const Application* of = nullptr;
    MeasuredNow now;
  };
  auto& kept = context_local<KeptFigures>();
  if (kept.of != &application) kept = {.frame = -1, .of = &application, .now = {}};
  if (kept.frame == ImGui::GetFrameCount()) return kept.now;
  kept.frame = ImGui::GetFrameCount();
  Session& session = application.session;
  application.races.look(session);
  MeasuredNow next = {.reports = application.races.seen(),
                      .leading = application.races.leading(session),
                      .selection = wished_curves(session.state()),
                      .whole = session.state().measure.whole,
                      .figures = nullptr};
  FiguresOfRaces key = {
      .reports = {}, .leading = next.leading, .selection = next.selection, .whole = next.whole};
  for (const SeenReport& each : next.reports) key.reports.push_back(each.report);
  const Known<RaceFigures> answer = session.questions().ask(key);
  if (!answer.value || answer.stale) return kept.now;
  next.figures = answer.value;
  kept.now = std::move(next);
  return kept.now;
}

std::set<Index> seen_lengths(const Application& application, const MeasuredNow& now) {
  std::set<Index> lengths;
  if (now.figures) {
    for (const auto& lines : now.figures->lines) {
      for (const RaceLine& line : lines) {
        for (const RacePoint& point : line.points) lengths.insert(point.entry.tokens);
      }
    }
  }
  const bool may_come =
      now.has_leading() ? now.lead().from == SeenReport::From::own_race : application.races.runs();
  const std::vector<Index>& wished = application.session.state().measure.wish.lengths;
  if (may_come || lengths.empty()) lengths.insert(wished.begin(), wished.end());
  return lengths;
}

RateUnit rate_unit(double highest) {
  if (highest < 1e12) return {};
  return {.flops_per_second = 1e12, .name = "TFLOP/s"};
}

namespace {

const char* explained(KernelKind kernel) {
  switch (kernel) {
    case KernelKind::plain:
      return "plain ones, written to be read";
    case KernelKind::registers:
      return "one that holds the memory in registers";
    case KernelKind::tensor_cores:
      break;
  }
  return "on tensor cores";
}

}  // namespace

std::string point_words(const RacePoint& point, const SeenReport& of) {
  const RaceEntry& entry = point.entry;
  std::string words =
      fmt::format("{}, {}{}, {}, {}, n = {}", find_variant(entry.variant).label, name(entry.form),
                  entry.chunk_size > 0 ? fmt::format(", C = {}", entry.chunk_size) : "", entry.device,
                  name(entry.precision), in_digits(entry.tokens));
  words += fmt::format("\n{}", of.from == SeenReport::From::own_race ? "measured here" : of.name);
  if (!point.measured()) return words + fmt::format("\nnot measured: {}", point.missing);
  const auto spread = [](const Quartiles& seconds) {
    return fmt::format("{}, middle half {} to {}", duration(seconds.median), duration(seconds.low),
                       duration(seconds.high));
  };
  words += fmt::format("\ncomputing: {}", spread(point.compute));
  if (point.kernel) words += fmt::format("\nkernels: {}", explained(*point.kernel));
  words +=
      fmt::format("\nof {} runs{}", point.repeats, point.warmed ? ", after one that does not count" : "");
  if (point.transfers.median > 0 || point.allocations.median > 0) {
    words += fmt::format("\ntransfers: {}\nallocations: {}\nwith both: {}", duration(point.transfers.median),
                         duration(point.allocations.median), spread(point.whole));
  }
  if (point.compute.median > 0) {
    const double rate = point.work.needed_flops / point.compute.median;
    const RateUnit unit = rate_unit(rate);
    const double share = 100 * roof_fraction(point, *of.report);
    words += fmt::format("\n{:.3g} {}", rate / unit.flops_per_second, unit.name);
    if (of.report->roof_of(entry))
      words += fmt::format(", {:.{}f} % of what the machine can do", share, share < 10 ? 1 : 0);
    else
      words += ", what the machine can do was not measured";
  }
  return words;
}

std::string with_capital(std::string words) {
  if (!words.empty() && words.front() >= 'a' && words.front() <= 'z')
    words.front() = static_cast<char>(words.front() - 'a' + 'A');
  return words;
}

void draw_measure(Application& application) {
  scene::show_panel("##measure", false, [&] { return times_of_races(application); });
}

void draw_measure_floor(Application& application) {
  draw_floor_panel(application, "##measure floor", 10, 4, RowsAbove::none, [&](ImVec2 from, ImVec2 to) {
    const Session& session = application.session;
    const auto columns = columns_between(session, from, to, {60, 24});
    if (!columns) return;
    const style::Palette& c = style::colours();
    Floor floor = floor_of(session, "words below the chart");
    floor.rows = {words_row(words_height, words_top)};
    floor.rows.back().label.lines = {
        {.words = fmt::format("the text: n = {}", session.computed()->sequence.tokens), .colour = c.dim}};
    show_floor(application, floor, *columns);
    const float below = from.y + style::px(words_height + 6);
    if (to.y - below >= style::px(18))
      scene::show_at(scene::line("times are of random data of length n, not of this text",
                                 style::Text::caption, scene::dim_ink),
                     {{columns->position.x, below}, to});
  });
}

}  // namespace palimpsest
