#include "app/views/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "app/gl/context_local.h"
#include "app/scene/draw.h"
#include "app/views/floor.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

using style::px;

constexpr float headline_size = 19;
constexpr float sentences_top = 25;
constexpr float controls_top = 78;
constexpr float detail_line = 16;  // that every line of the detail but the first takes
constexpr int most_lines = 3;
constexpr float controls_height = 38;
constexpr float words_top = 9;  // in the floor
constexpr float words_height = 33;

std::string cannot_say(const MeasuredNow& now, const Application& application) {
  if (application.races.runs()) return "The first points are being measured …";
  if (is_reading(now, application.races)) return "The reports that are there are being read …";
  if (now.reports.empty()) return "Nothing is measured yet: “measure” below starts a race on this machine.";
  return "None of the reports has these curves: “measure” races them here, or choose others.";
}

/// Where the first line of a text ends, at a space or at the end of all.
std::size_t line_end(const std::string& words, float width) {
  if (text_extent(words).x <= width) return words.size();
  std::size_t end = words.size();
  for (std::size_t at = words.find(' '); at != std::string::npos; at = words.find(' ', at + 1)) {
    if (end != words.size() && text_extent(words.substr(0, at)).x > width) break;
    end = at;
  }
  return end;
}

/// As many clauses of a sentence as there is room for, and the others as a sentence of their own.
std::pair<std::string, std::string> whole_clauses(const std::string& sentence, float width) {
  if (text_extent(sentence).x <= width) return {sentence, {}};
  for (std::size_t cut = sentence.rfind("; "); cut != std::string::npos && cut > 0;
       cut = sentence.rfind("; ", cut - 1)) {
    const std::string shown = sentence.substr(0, cut) + ".";
    if (text_extent(shown).x > width) continue;
    std::string rest = sentence.substr(cut + 2);
    if (rest.front() >= 'a' && rest.front() <= 'z')
      rest.front() = static_cast<char>(rest.front() - 'a' + 'A');
    return {shown, rest + " "};
  }
  return {shortened(sentence, width), {}};
}

/// Returns how many lines stand below the headline.
int draw_sentences(const MeasuredNow& now, const Application& application, ImVec2 from, float width) {
  const style::Palette& c = style::colours();
  const bool has_answer = now.has_leading() && !now.figures->headline.empty();
  std::string headline = has_answer ? now.figures->headline : cannot_say(now, application);
  if (now.has_leading() && !has_answer)
    headline = application.races.runs() ? "More lengths are needed for an answer; they are being measured …"
                                        : "One curve alone has nothing to be compared with.";
  measure_map().headline = headline;
  measure_map().shown_detail.clear();
  measure_map().detail = now.has_leading() ? now.figures->detail : std::string();
  ImGui::PushFont(style::font(style::Text::strong),
                  headline_size / 14 * style::font_size(style::Text::strong));
  const auto [shown, rest] = whole_clauses(headline, width);
  draw_text(from, c.text, shown);
  const ImVec2 end = {from.x + text_extent(shown).x, from.y + text_extent(shown).y};
  ImGui::PopFont();
  measure_map().shown_headline = shown;
  offer_whole(from, end, shown);
  const style::TextStyle text(style::Text::caption);
  std::string below = rest + measure_map().detail;
  if (now.has_leading()) {
    const SeenReport& lead = now.lead();
    const std::vector<RaceStart>& starts = lead.report->starts;
    const std::string date = starts.empty() ? "" : " " + starts.back().date.substr(0, 10);
    below += fmt::format("{}Measured{}.", below.empty() ? "" : " ",
                         lead.from == SeenReport::From::own_race ? " here and now" : date + ", not here");
  }
  const float line = text_extent("x").y;
  int lines = 0;
  while (true) {
    const ImVec2 at = {from.x, from.y + px(27) + static_cast<float>(lines) * line};
    const bool is_last = ++lines == most_lines;
    const std::size_t until = is_last ? below.size() : line_end(below, width);
    const std::string shown_line = shortened(below.substr(0, until), width);
    draw_text(at, c.dim, shown_line);
    measure_map().shown_detail += (lines > 1 ? " " : "") + shown_line;
    offer_whole(at, {at.x + text_extent(shown_line).x, at.y + line}, shown_line);
    if (until == below.size()) return lines;
    below.erase(0, until + 1);
  }
}

/// "Which is faster here?", or on the machine that the report in front was made on.
std::string question(const MeasuredNow& now) {
  if (!now.has_leading() || now.lead().from == SeenReport::From::own_race) return "Which is faster here?";
  return fmt::format("Which is faster on {}?", machine_words(*now.lead().report));
}

void draw_centre(Application& application, ImVec2 from, ImVec2 to) {
  const MeasuredNow& now = measured(application);
  measure_map().question = question(now);
  ImGui::SetCursorScreenPos({from.x, from.y - px(6)});
  scene::show_in(
      scene::row({scene::heading(measure_map().question), scene::rest(), chart_switches(application, now)}),
      {to.x - from.x, to.y - from.y});
  const int lines = draw_sentences(now, application, {from.x, from.y + px(sentences_top)}, to.x - from.x);
  const float top = from.y + px(controls_top + static_cast<float>(lines - 1) * detail_line);
  ImGui::SetCursorScreenPos({from.x, top});
  scene::show_in(race_controls(application), {to.x - from.x, to.y - top});
  draw_plot(race_plot(application, now), {{from.x, top + px(controls_height)}, to});
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

MeasureMap& measure_map() { return context_local<MeasureMap>(); }

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

void draw_measure(Application& application) {
  if (style::begin_panel("##measure", {0, 0},
                         ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse)) {
    const ImVec2 from = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    draw_centre(application, from, {from.x + room.x, from.y + room.y});
    ImGui::SetCursorScreenPos(from);
    ImGui::Dummy({1, 1});  // pictures are no items
  }
  style::end_panel();
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
    const style::TextStyle text(style::Text::caption);
    if (to.y - from.y >= px(words_height + 24)) {
      draw_text({columns->position.x, from.y + px(words_height + 6)}, c.dim,
                shortened("times are of random data of length n, not of this text", columns->size.x));
    }
  });
}

}  // namespace palimpsest
