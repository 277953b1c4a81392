#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>

#include <algorithm>
#include <map>
#include <set>

#include "app/session/counted.h"
#include "app/views/measure.h"
#include "app/widgets/chart.h"
#include "app/widgets/controls.h"
#include "app/widgets/text.h"

// Which reports are seen, and what their times hold.

namespace palimpsest {

namespace {

using style::px;

constexpr float line_height = 18;
constexpr float report_height = 22;
constexpr float mark_width = 18;
constexpr float fact_names = 68;

/// Writes lines downwards as long as there is room; what has none is told by the last one.
class SideLines {
 public:
  SideLines(ImVec2 from, ImVec2 to) : from_(from), to_(to), y_(from.y) {}

  float y() const { return y_; }
  float width() const { return to_.x - from_.x; }
  float room() const { return to_.y - y_; }
  bool fits(float design_height) const { return y_ + px(design_height) <= to_.y + 1; }
  void skip(float design_height) { y_ += px(design_height); }

  void heading(const char* words) {
    if (!fits(line_height + line_height)) return;
    const style::TextStyle text(style::Text::strong);
    draw_text({from_.x, y_}, style::colours().text, shortened(words, width()));
    y_ += px(22);
  }

  void rule() {
    if (!fits(line_height + 8)) return;
    ImGui::GetWindowDrawList()->AddLine({from_.x, y_ + px(3)}, {to_.x, y_ + px(3)}, style::colours().edge);
    y_ += px(9);
  }

  /// Something that is in the times (a tick), or is not (a dash); it wraps.
  void item(bool is_in, const std::string& words) {
    const style::Palette& c = style::colours();
    const style::TextStyle text(style::Text::caption);
    const float wrap = width() - px(mark_width);
    const ImVec2 extent = ImGui::CalcTextSize(words.c_str(), nullptr, false, wrap);
    if (y_ + extent.y > to_.y + 1) return;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float middle = y_ + text_extent("x").y / 2;
    if (is_in) {
      const ImVec2 tick[] = {
          {from_.x, middle}, {from_.x + px(3), middle + px(3)}, {from_.x + px(9), middle - px(4)}};
      list->AddPolyline(tick, 3, c.good, px(1.75F));
    } else {
      list->AddLine({from_.x, middle}, {from_.x + px(9), middle}, c.dim, px(1.75F));
    }
    list->AddText(ImGui::GetFont(), ImGui::GetFontSize(), {from_.x + px(mark_width), y_},
                  is_in ? c.text : c.dim, words.c_str(), nullptr, wrap);
    y_ += extent.y + px(4);
  }

  /// A name and what it is, which may be cut.
  void fact(const char* name, const std::string& words, ImU32 colour) {
    if (!fits(line_height)) return;
    const style::TextStyle text(style::Text::caption);
    draw_text({from_.x, y_}, style::colours().dim, name);
    const std::string shown = shortened(words, width() - px(fact_names));
    draw_text({to_.x - text_extent(shown).x, y_}, colour, shown);
    y_ += px(line_height);
  }

  ImVec2 left() const { return {from_.x, y_}; }
  float right() const { return to_.x; }

 private:
  ImVec2 from_;
  ImVec2 to_;
  float y_;
};

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

/// The row of a report: its line, its name, a way to bring it to the front, a way to take it away.
void report_row(Application& application, const MeasuredNow& now, std::size_t index, SideLines& lines) {
  const style::Palette& c = style::colours();
  const SeenReport& report = now.reports[index];
  const bool leads = now.has_leading() && index == now.leading;
  const std::span<const RaceLine> curves =
      now.figures ? std::span<const RaceLine>(now.figures->lines[index]) : std::span<const RaceLine>();
  const bool has_curves =
      std::ranges::any_of(curves, [](const RaceLine& line) { return !line.points.empty(); });
  ImGui::PushID(report.id.c_str());
  const ImVec2 from = lines.left();
  const float middle = from.y + px(report_height / 2);
  const bool is_gpu =
      has_curves && std::ranges::all_of(curves, [](const RaceLine& line) { return line.of.device != "cpu"; });
  const ImU32 colour = leads ? c.text : style::mix(c.panel, c.text, 0.72F);
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (is_gpu)
    dashed_line(list, {from.x, middle}, {from.x + px(22), middle}, colour, px(leads ? 2.25F : 1.0F));
  else
    list->AddLine({from.x, middle}, {from.x + px(22), middle}, colour, px(leads ? 2.25F : 1.0F));
  const float cross = lines.right() - px(18);
  std::string state = has_curves ? (leads ? "" : "to the front") : "show what it has";
  const style::TextStyle text(leads ? style::Text::strong : style::Text::caption);
  float state_width = 0;
  {
    const style::TextStyle caption(style::Text::caption);
    state_width = state.empty() ? 0 : text_extent(state).x + px(10);
  }
  const float name_left = from.x + px(30);
  const float room = cross - state_width - px(6) - name_left;
  std::string name = report.name;
  // The date goes first: the tooltip has it.
  if (const std::size_t date = name.rfind(", 20"); text_extent(name).x > room && date != std::string::npos)
    name.erase(date);
  name = shortened(name, room);
  measure_map().shown_reports.push_back(name);
  draw_text({name_left, middle - text_extent("x").y / 2}, has_curves ? c.text : c.dim, name);
  measure_map().reports.push_back(report.name);
  ImGui::SetCursorScreenPos({name_left, from.y});
  ImGui::InvisibleButton("name", {std::max(text_extent(name).x, 1.0F), px(report_height)});
  std::vector<std::string> shapes;
  for (const RaceShape& shape : race_shapes(*report.report)) shapes.push_back(in_words(shape));
  std::string told = report.name;
  if (report.from == SeenReport::From::own_race)
    told = "Measured on this machine since the program was started";
  told +=
      fmt::format("\n{} of {} points\n{}", std::ranges::count_if(report.report->points, &RacePoint::measured),
                  report.report->points.size(), fmt::join(shapes, "\n"));
  if (!report.report->complete()) told += "\nnot complete: some points of its plan are not measured";
  if (report.from == SeenReport::From::file) told += "\n" + report.id;
  {
    const style::TextStyle body(style::Text::body);
    tooltip(told);
  }
  Session& session = application.session;
  if (!state.empty()) {
    ImGui::SetCursorScreenPos({cross - state_width, from.y});
    if (style::word_button(state.c_str(), report_height)) {
      SessionState next = session.state();
      next.measure.leading = report.id;
      show_what_it_has(next, *report.report);
      session.change(std::move(next));
    }
    tooltip(has_curves ? "The sentence, the crossings and the roofline are about the report in front."
                       : fmt::format("It has none of the curves that are looked at. It has {}.",
                                     fmt::join(shapes, "; ")));
  }
  ImGui::SetCursorScreenPos({cross, from.y});
  if (style::word_button("×", report_height)) application.races.take_away(session, report);
  tooltip(report.from == SeenReport::From::own_race ? "Forgets what was measured here."
                                                    : "Takes this report out of sight; its file stays.");
  ImGui::PopID();
  lines.skip(report_height);
}

void draw_reports(Application& application, const MeasuredNow& now, SideLines& lines) {
  const style::Palette& c = style::colours();
  const ImVec2 from = lines.left();
  {
    const style::TextStyle text(style::Text::strong);
    draw_text(from, c.text, "Reports");
  }
  {
    const style::TextStyle text(style::Text::caption);
    const float width = text_extent("open…").x;
    ImGui::SetCursorScreenPos({lines.right() - width, from.y - px(1)});
  }
  if (style::word_button("open…", 20)) application.show_open = true;
  tooltip("Opens a report of `palimpsest bench --json`; dropping its file does the same.");
  lines.skip(24);
  if (is_reading(now, application.races)) {
    const style::TextStyle text(style::Text::caption);
    draw_text(lines.left(), c.dim, "being read …");
    lines.skip(report_height);
  }
  for (std::size_t i = 0; i < now.reports.size(); ++i) {
    if (lines.room() < px(3 * report_height)) break;
    report_row(application, now, i, lines);
  }
  if (!application.session.state().measure.away.empty()) {
    ImGui::SetCursorScreenPos(lines.left());
    if (style::word_button("bring back what ships", line_height)) {
      SessionState next = application.session.state();
      next.measure.away.clear();
      application.session.change(std::move(next));
    }
    lines.skip(line_height + 2);
  }
}

void draw_contents(const MeasuredNow& now, SideLines& lines) {
  const RaceReport& report = *now.lead().report;
  lines.heading("What is in these times");
  if (const std::string runs = runs_words(now.lines()); !runs.empty()) {
    lines.item(true, runs);
    lines.item(true, warm_words(now.lines()));
  }
  std::set<std::string> devices;
  for (const RaceLine& line : now.lines()) devices.insert(line.of.device);
  lines.item(true, "decays, masks, solves, reads and writes of the memory, all heads");
  const bool has_gpu =
      std::ranges::any_of(devices, [](const std::string& device) { return device != "cpu"; });
  if (now.whole)
    lines.item(true, "transfers and allocations");
  else
    lines.item(false, has_gpu ? "transfers and allocations: apart, at each point"
                              : "transfers: the data lie where they are used");
  lines.item(false, "projections, norms, output gate");
  lines.item(false, "making the data, reading files, drawing");
  for (const RaceTiming& timing : report.timing) {
    if (devices.size() > 1 || !devices.contains(timing.device)) continue;
    const ImVec2 from = lines.left();
    if (!lines.fits(line_height)) break;
    const style::TextStyle text(style::Text::caption);
    ImGui::SetCursorScreenPos(from);
    style::word_button("more…", line_height);
    tooltip(fmt::format("{}: {}.\n\nData: {}.", timing.device, timing.words, report.data));
    lines.skip(line_height);
  }
}

void draw_facts(Application& application, const MeasuredNow& now, SideLines& lines) {
  const style::Palette& c = style::colours();
  const SeenReport& lead = now.lead();
  const RaceReport& report = *lead.report;
  lines.rule();
  std::set<std::string> precisions;
  for (const RaceLine& line : now.lines()) precisions.insert(name(line.of.precision));
  std::string device =
      fmt::format("{}, {}", report.machine.processor, counted(report.machine.threads, "thread", "threads"));
  if (!report.machine.gpu.empty()) device = fmt::format("{} · {}", report.machine.gpu, device);
  lines.fact("device", device, c.text);
  if (!report.machine.clocks.empty()) lines.fact("clocks", report.machine.clocks, c.text);
  lines.fact("program", report.machine.program, c.text);
  lines.fact("precision", fmt::format("{}", fmt::join(precisions, ", ")), c.text);
  lines.fact("shape", in_words(now.selection.shape), c.text);
  if (!report.starts.empty()) {
    const RaceStart& start = report.starts.back();
    lines.fact("date", start.date, c.text);
    lines.fact("command", start.command == "window" ? std::string("in this window") : start.command, c.text);
  }
  lines.fact("checked", "not here: `verify` and Prove compare them", c.dim);
  for (const Backend* const backend : application.session.devices()) {
    const std::string reason = application.session.why_not_on(*backend, Form::recurrent, nullptr);
    if (!reason.empty()) lines.fact(backend->name().c_str(), "cannot be used here: " + reason, c.alarm);
  }
}

}  // namespace

void draw_measure_side(Application& application) {
  measure_map().reports.clear();
  measure_map().shown_reports.clear();
  if (style::begin_panel("##measure side", {0, 0},
                         ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse)) {
    const MeasuredNow& now = measured(application);
    const ImVec2 from = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    SideLines lines(from, {from.x + room.x, from.y + room.y});
    draw_reports(application, now, lines);
    if (now.has_leading()) {
      lines.rule();
      draw_contents(now, lines);
      draw_facts(application, now, lines);
    }
    ImGui::SetCursorScreenPos(from);
    ImGui::Dummy({1, 1});  // pictures are no items
  }
  style::end_panel();
}

}  // namespace palimpsest
