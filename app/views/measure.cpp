#include "app/views/measure.h"

#include <fmt/ranges.h>

#include "app/views/floor.h"
#include "app/views/story_page.h"

// What is around the charts of Measure: the answer, the controls (what is raced, and how it is shown),
// the reports, and what their times include.

namespace palimpsest {

namespace {

constexpr float words_top = 9;  // in the floor
constexpr float words_height = 33;

void wish(Session& session, const std::function<void(RaceWish&)>& edit) {
  session.change([&](SessionState& state) { edit(state.measure.wish); });
}

/// A line of a list: whether it is chosen, and the edit that a press makes.
Node wish_line(Session& session, const std::string& words, bool is_chosen,
               std::function<void(RaceWish&)> edit, const std::string& tip = {}) {
  return scene::choice(words, is_chosen).told(tip).on([&session, edit = std::move(edit)] {
    wish(session, edit);
  });
}

/// The same for a value of a list, which a press takes in or out; `needed`: the last one stays.
template <class Value>
Node listed_line(Session& session, const std::string& words, std::vector<Value> RaceWish::*list,
                 const std::type_identity_t<Value>& value, const std::string& tip = {}, bool needed = false) {
  const auto edit = [list, value, needed](RaceWish& next) {
    std::vector<Value>& all = next.*list;
    if (std::erase(all, value) == 0 || (needed && all.empty())) all.push_back(value);
    if constexpr (std::same_as<Value, Index>) std::ranges::sort(all);  // lengths
  };
  return wish_line(session, words, is_among(value, session.state().measure.wish.*list), edit, tip);
}

bool same_curves(const RaceWish& one, const RaceWish& other) {
  return one.variants == other.variants && one.peer == other.peer && one.forms == other.forms &&
         one.devices == other.devices;
}

std::string curves_words(const RaceWish& wish) {
  for (const RacePreset& preset : race_presets()) {
    if (same_curves(preset.wish(wish), wish)) return preset.words;
  }
  std::string words = wish.variants.empty()       ? std::string("this rule")
                      : wish.variants.size() == 1 ? find_variant(wish.variants.front()).label
                                                  : fmt::format("{} rules", wish.variants.size());
  if (wish.peer) words += " and softmax";
  if (wish.forms.size() == 1) words += fmt::format(", {}", name(wish.forms.front()));
  if (wish.forms.size() > 1) words += fmt::format(", {} forms", wish.forms.size());
  return words;
}

Node curves(Session& session) {
  const RaceWish& present = session.state().measure.wish;
  Nodes left = {scene::caption("At once")};
  for (const RacePreset& preset : race_presets())
    left += wish_line(
        session, preset.words, same_curves(preset.wish(present), present),
        [&preset](RaceWish& next) { next = preset.wish(next); }, preset.explained);
  left += scene::caption("Forms");
  left += wish_line(session, "all", present.forms.empty(), [](RaceWish& next) {
            next.forms.clear();
          }).named("all forms");
  for (const Form form : all_forms) left += listed_line(session, name(form), &RaceWish::forms, form);
  left += scene::caption("Beside them");
  left += wish_line(session, "softmax", present.peer, [](RaceWish& next) { next.peer = !next.peer; });
  Nodes rules = {wish_line(session,
                           fmt::format("the open one: {}", find_variant(session.choice().variant).label),
                           present.variants.empty(), [](RaceWish& next) { next.variants.clear(); })
                     .named("open rule")};
  for (const Variant& variant : variants()) {
    if (variant.id == "softmax") continue;
    rules +=
        listed_line(session, variant.label, &RaceWish::variants, variant.id, variant.words).named(variant.id);
  }
  return scene::top_row(
      {scene::column(std::move(left)).filling(),
       scene::column({scene::caption("Rules"),
                      scene::scroll("raced rules", scene::column(std::move(rules))).fixed(300)})
           .filling()},
      Gap::wide);
}

std::string where_words(const RaceWish& wish) {
  std::string words = wish.devices.empty() ? "all devices" : fmt::format("{}", fmt::join(wish.devices, ", "));
  for (const Precision precision : wish.precisions) words += fmt::format(", {}", name(precision));
  return words;
}

Node where(Session& session) {
  const RaceWish& present = session.state().measure.wish;
  Nodes all = {scene::caption("Devices"), wish_line(session, "all that can be used", present.devices.empty(),
                                                    [](RaceWish& next) { next.devices.clear(); })};
  for (const Backend* const device : session.devices()) {
    const std::string reason = session.why_not_on(*device, Form::recurrent, nullptr);
    all +=
        listed_line(session, device->name(), &RaceWish::devices, device->name(),
                    reason.empty() ? std::string() : "Shown from reports; here it cannot be used: " + reason);
  }
  all += scene::caption("Precisions");
  for (const Precision precision : all_precisions)
    all += listed_line(session, name(precision), &RaceWish::precisions, precision, {}, true);
  return scene::column(std::move(all));
}

template <class Lengths>
std::string lengths_words(const Lengths& lengths) {
  if (lengths.size() == 1) return "n = " + in_digits(*lengths.begin());
  return fmt::format("n {} – {}", in_digits(*lengths.begin()), in_digits(*lengths.rbegin()));
}

Node lengths(Session& session) {
  constexpr Index longest = 65536;
  const std::vector<Index>& present = session.state().measure.wish.lengths;
  std::set<Index> offered(present.begin(), present.end());
  for (Index tokens = 16; tokens <= longest; tokens *= 2) offered.insert(tokens);
  Nodes all = {scene::caption("Lengths that are raced here, in tokens")};
  for (const Index tokens : offered)
    all += listed_line(session, in_digits(tokens), &RaceWish::lengths, tokens, {}, true);
  all += scene::caption("Points that take over 2 s per run are left out.");
  return scene::column(std::move(all));
}

Node shape(Session& session, const MeasuredNow& now) {
  const RaceWish& present = session.state().measure.wish;
  Nodes all;
  const auto add_numbers = [&](const char* words, std::initializer_list<Index> offered, Index chosen,
                               void (*set)(RaceWish&, Index)) {
    Nodes tabs;
    for (const Index number : offered)
      tabs += scene::tab(std::to_string(number), number == chosen).on([&session, set, number] {
        wish(session, [&](RaceWish& next) { set(next, number); });
      });
    all += scene::caption(words);
    all += scene::row(std::move(tabs), Gap::wide).named(words);
  };
  add_numbers("B, batches", {1, 2, 4, 8}, present.shape.batches,
              [](RaceWish& next, Index number) { next.shape.batches = number; });
  add_numbers("H, heads of each", {1, 2, 4, 8, 16, 32}, present.shape.heads,
              [](RaceWish& next, Index number) { next.shape.heads = number; });
  add_numbers("D, channels of a head", {16, 32, 64, 128, 256}, present.shape.dk,
              [](RaceWish& next, Index number) { next.shape.dk = next.shape.dv = number; });
  add_numbers("C, tokens of a chunk", {16, 32, 64, 128}, present.chunk_size,
              [](RaceWish& next, Index number) { next.chunk_size = number; });
  std::vector<RaceShape> shapes;
  for (const SeenReport& report : now.reports) {
    for (const RaceShape& each : race_shapes(*report.report)) {
      if (!is_among(each, shapes)) shapes.push_back(each);
    }
  }
  if (!shapes.empty()) all += scene::caption("In the reports");
  for (const RaceShape& each : shapes)
    all += wish_line(session, in_words(each), present.shape == each,
                     [each](RaceWish& next) { next.shape = each; });
  return scene::column(std::move(all));
}

Node save_menu(Application& application, const MeasuredNow& now) {
  const std::shared_ptr<const RaceReport> report = now.lead().report;
  return scene::column(
      {scene::choice("report as JSON…", false)
           .told("All measurements, as `palimpsest bench --json` writes them. The file can be opened again.")
           .on([&application, report] { application.ask_where_to_save_text("report", race_json(*report)); }),
       scene::choice("points as CSV…", false)
           .told("A line for every point, as `palimpsest bench --csv` writes it.")
           .on([&application, report] {
             application.ask_where_to_save_text("table of the points", race_csv(*report), ".csv");
           })});
}

Node race_button(Application& application, const MeasuredNow& now) {
  Races& races = application.races;
  Session& session = application.session;
  const bool runs = races.runs();
  const Index missing = runs ? 0 : races.left(session);
  const bool has_points = races.own() && !races.own()->points.empty();
  const bool again = !runs && missing == 0 && has_points;
  const bool nowhere = !runs && wished_plan(session.state(), usable_devices(session)).backends.empty();
  const bool is_elsewhere = now.has_leading() && !now.is_own();
  const std::string label = runs           ? "cancel"
                            : again        ? "measure again"
                            : is_elsewhere ? "measure here"
                            : has_points   ? "go on"
                                           : "measure";
  const std::string tip =
      runs      ? "Stops the race; the results stay, and “go on” continues it."
      : nowhere ? "None of the chosen devices can be used here."
      : again
          ? "Forgets what was measured here and measures again."
          : fmt::format(
                "{}Races {} combinations on this machine, short lengths first. It continues while you work "
                "elsewhere.",
                is_elsewhere ? "The primary report is of another machine and is not continued here. " : "",
                missing);
  Nodes all;
  if (runs)
    all += scene::note(fmt::format("{:.0f} % · {}", 100 * races.progress(), races.under_way()))
               .named("progress");
  all += scene::pill(label, !runs && !again && !nowhere)
             .named("race")
             .enabled_if(!nowhere)
             .told(tip)
             .on([&application, &races, &session, runs, again] {
               if (runs) return races.cancel(session);
               try {
                 if (again) races.forget(session);
                 races.start(session);
               } catch (const Error& error) {
                 application.refusal = error.what();
               }
             });
  return scene::row(std::move(all));
}

Node race_controls(Application& application) {
  Session& session = application.session;
  const MeasuredNow& now = measured(application);
  const RaceWish& present = session.state().measure.wish;
  // The lengths in the chart; a report made elsewhere may have others than a race here.
  const std::string seen = lengths_words(seen_lengths(application, now));
  const std::string raced = lengths_words(present.lengths);
  const auto menu = [](const char* piece, std::string words, float width, std::function<Node()> content) {
    return Node{scene::Menu{std::move(words), std::move(content), width}}.named(piece);
  };
  Nodes all = {
      menu("curves", curves_words(present), 480, [&session] { return curves(session); })
          .told("Which rules and forms are raced and shown"),
      menu("where", where_words(present), 200, [&session] { return where(session); })
          .told("Devices and precisions: where it is raced, and what is shown"),
      menu("lengths", seen, 260, [&session] { return lengths(session); })
          .told(seen == raced ? "How long the sequences are"
                              : fmt::format("How long the sequences are; a race here takes {}", raced)),
      menu("shape", fmt::format("{} · C {}", in_words(present.shape), present.chunk_size), 280,
           [&session, &now] { return shape(session, now); })
          .told("Batches, heads, channels, tokens of a chunk"),
      scene::rest(),
      race_button(application, now)};
  return scene::row(std::move(all)).named("controls");
}

Node chart_switches(Application& application, const MeasuredNow& now) {
  Session& session = application.session;
  Nodes all;
  if (now.has_leading())
    all += Node{scene::Menu{"save", [&application, &now] { return save_menu(application, now); }, 160}}
               .named("save report")
               .told(
                   "Saves the primary report. `palimpsest render --workspace measure --race FILE` "
                   "draws it as a picture.");
  const bool has_transfers = std::ranges::any_of(now.reports, [](const SeenReport& report) {
    return std::ranges::any_of(report.report->points,
                               [](const RacePoint& point) { return point.transfers.median > 0; });
  });
  if (has_transfers || session.state().measure.whole)
    all += field_choice(session, &SessionState::measure, &MeasureState::whole,
                        {{"computing", false}, {"with transfers", true}},
                        "Computing alone, or with all transfers and allocations.");
  all +=
      field_choice(session, &SessionState::measure, &MeasureState::per_token,
                   {{"time", false}, {"per token", true}}, "The time of the whole sequence, or per token.");
  return scene::row(std::move(all)).named("switches");
}

/// Whether reports are being read while none is shown yet.
bool is_reading(const MeasuredNow& now, const Races& races) {
  return now.reports.empty() && (races.reads() || !races.seen().empty());
}

/// The clauses of an answer up to the "; " at `cut`, and the others, which are shown below; all if there is
/// none.
std::pair<std::string, std::string> split_at(const std::string& sentence, std::size_t cut) {
  if (cut == std::string::npos) return {sentence, {}};
  return {sentence.substr(0, cut) + ".", capitalised(sentence.substr(cut + 2)) + " "};
}

/// A headline with as many of its clauses as fit; the others come first in the text below.
Node headline(const std::string& sentence, const std::string& detail) {
  Nodes wishes;
  const auto add = [&](std::size_t cut, Fit fit, style::Text letters) {
    const auto [said, more] = split_at(sentence, cut);
    wishes += scene::column(
        {scene::text(said, letters, 0, fit).named("headline"), Node{scene::Text{.words = more + detail,
                                                                                .style = style::Text::caption,
                                                                                .ink = scene::dim_ink,
                                                                                .most_lines = 3}}
                                                                   .named("detail")});
  };
  add(std::string::npos, Fit::whole, style::Text::headline);
  for (std::size_t cut = sentence.rfind("; "); cut != std::string::npos && cut > 0;
       cut = sentence.rfind("; ", cut - 1))
    add(cut, Fit::whole, style::Text::headline);
  add(std::string::npos, Fit::shorten, style::Text::title);
  return scene::first_that_fits(std::move(wishes));
}

std::string answer(const MeasuredNow& now, const Application& application) {
  const bool runs = application.races.runs();
  if (!now.has_leading()) {
    if (runs) return "The first points are being measured …";
    if (is_reading(now, application.races)) return "Reports are being read …";
    return now.reports.empty() ? "Nothing is measured yet: “measure” below starts a race on this machine."
                               : "No report has these curves: “measure” races them here, or choose others.";
  }
  if (!now.figures->headline.empty()) return now.figures->headline;
  return runs ? "More lengths are needed for an answer; they are being measured …"
              : "There is only one curve: nothing to compare it with.";
}

std::string detail(const MeasuredNow& now) {
  if (!now.has_leading()) return {};
  const std::vector<RaceStart>& starts = now.lead().report->starts;
  const std::string date = starts.empty() ? "" : " " + starts.back().date.substr(0, 10);
  const std::string& figures = now.figures->detail;
  return fmt::format("{}{}Measured{}.", figures, figures.empty() ? "" : " ",
                     now.is_own() ? " here and now" : date + ", not here");
}

std::string question(const MeasuredNow& now) {
  if (!now.has_leading() || now.is_own()) return "Which is faster here?";
  return fmt::format("Which is faster on {}?", machine_words(*now.lead().report));
}

/// "9 up to 1,024, 3 at 2,048": the number of runs behind each median, by length.
std::string runs_words(const std::vector<RaceLine>& lines) {
  std::map<Index, Index> runs;  // by length, the fewest
  for (const RacePoint& point : points_of(lines)) {
    const auto [place, is_new] = runs.try_emplace(point.entry.tokens, point.repeats);
    if (!is_new) place->second = std::min(place->second, point.repeats);
  }
  if (runs.empty()) return {};
  const auto [fewest, most] = std::ranges::minmax(runs | std::views::values);
  if (fewest == most) return fmt::format("median of {}", counted(most, "run", "runs"));
  return fmt::format("median of {} runs for short n, at least {} for long", most, fewest);
}

std::string warm_words(const std::vector<RaceLine>& lines) {
  auto points = points_of(lines);
  if (std::ranges::all_of(points, &RacePoint::warmed)) return "a warm-up run first, not counted";
  return std::ranges::any_of(points, &RacePoint::warmed)
             ? "a warm-up run first, not counted, where runs are short"
             : "no warm-up run: the runs are long";
}

std::string shapes_words(const RaceReport& report, const char* between) {
  const auto words = [](const RaceShape& shape) { return in_words(shape); };
  return fmt::format("{}", fmt::join(made_of(race_shapes(report), words), between));
}

std::string report_words(const SeenReport& report) {
  std::string told = fmt::format("{}\n{} of {} points\n{}",
                                 report.from == SeenReport::From::own_race
                                     ? "Measured on this machine since the program was started"
                                     : report.name,
                                 std::ranges::count_if(report.report->points, &RacePoint::measured),
                                 report.report->points.size(), shapes_words(*report.report, "\n"));
  if (!report.report->complete()) told += "\nnot complete: some points of its plan are not measured";
  if (report.from == SeenReport::From::file) told += "\n" + report.id;
  return told;
}

Node report_row(Application& application, const MeasuredNow& now, std::size_t index) {
  const style::Palette& c = style::colours();
  const SeenReport& report = now.reports[index];
  const bool leads = now.has_leading() && index == now.leading;
  const bool has_curves =
      now.figures && std::ranges::any_of(now.figures->lines[index],
                                         [](const RaceLine& line) { return !line.points.empty(); });
  const bool is_gpu = has_curves && std::ranges::all_of(now.figures->lines[index], [](const RaceLine& line) {
                        return line.of.device != "cpu";
                      });
  Node line = {Mark{.kind = Mark::Kind::point,
                    .look = {.colour = leads ? c.text : style::mix(c.panel, c.text, 0.72F),
                             .marker = PlotMarker::circle,
                             .size = leads ? 4.0F : 3.0F,
                             .hollow = is_gpu}}};
  const style::Text letters = leads ? style::Text::strong : style::Text::caption;
  const scene::Ink ink = has_curves ? c.text : c.dim;
  // With little room the date is omitted first: the tooltip has it.
  const std::string undated = report.name.substr(0, report.name.rfind(", 20"));
  Nodes row = {std::move(line), scene::first_that_fits({scene::text(report.name, letters, ink, Fit::whole),
                                                        scene::line(undated, letters, ink)})
                                    .filling()
                                    .named("name")
                                    .told(report_words(report))};
  if (!leads || !has_curves) {
    row += scene::word_button(has_curves ? "make primary" : "show what it has")
               .on([&session = application.session, id = report.id, held = report.report] {
                 session.change([&](SessionState& state) {
                   state.measure.leading = id;
                   show_what_it_has(state, *held);
                 });
               })
               .told(has_curves ? "The sentence, the crossings and the roofline are about the primary report."
                                : fmt::format("It has none of the selected curves. It has {}.",
                                              shapes_words(*report.report, "; ")));
  }
  row += scene::word_button("×")
             .on([&application, report] { application.races.take_away(application.session, report); })
             .told(report.from == SeenReport::From::own_race ? "Forgets what was measured here."
                                                             : "Closes this report; its file stays.");
  return scene::row(std::move(row)).named(std::to_string(index));
}

Node reports(Application& application, const MeasuredNow& now) {
  Nodes all = {scene::row(
      {scene::heading("Reports"), scene::rest(),
       scene::word_button("open…")
           .on([&application] { application.show_open = true; })
           .told("Opens a report of `palimpsest bench --json`; dropping its file does the same.")})};
  if (is_reading(now, application.races)) all += scene::caption("being read …");
  for (std::size_t i = 0; i < now.reports.size(); ++i) all += report_row(application, now, i);
  if (!application.session.state().measure.away.empty()) {
    all += scene::word_button("show shipped reports").on([&session = application.session] {
      session.change([](SessionState& state) { state.measure.away.clear(); });
    });
  }
  return scene::column(std::move(all), Gap::tight).named("reports");
}

Node contents(const MeasuredNow& now) {
  const style::Palette& c = style::colours();
  const RaceReport& report = *now.lead().report;
  Nodes all = {scene::heading("What is in these times")};
  const auto item = [&](bool is_in, const std::string& words) {
    all += scene::top_row({scene::mark(is_in ? Mark::Kind::tick : Mark::Kind::dash, is_in ? c.good : c.dim),
                           scene::text(words, style::Text::caption, is_in ? c.text : c.dim).filling()},
                          Gap::small);
  };
  if (const std::string runs = runs_words(now.lines()); !runs.empty()) {
    item(true, runs);
    item(true, warm_words(now.lines()));
  }
  std::set<std::string> devices;
  for (const RaceLine& line : now.lines()) devices.insert(line.of.device);
  item(true, "decays, masks, solves, reads and writes of the memory, all heads");
  const bool has_gpu = devices.size() > devices.count("cpu");
  item(now.whole, now.whole ? "transfers and allocations"
                  : has_gpu ? "transfers and allocations: separate, at each point"
                            : "transfers: the data are already in place");
  item(false, "projections, norms, output gate");
  item(false, "making the data, reading files, drawing");
  for (const RaceTiming& timing : report.timing) {
    if (devices.size() > 1 || !devices.contains(timing.device)) continue;
    all += scene::word_button("more…").told(
        fmt::format("{}: {}.\n\nData: {}.", timing.device, timing.words, report.data));
  }
  return scene::column(std::move(all), Gap::tight).named("contents");
}

Node facts(const Application& application, const MeasuredNow& now) {
  const style::Palette& c = style::colours();
  const RaceReport& report = *now.lead().report;
  Nodes cells;
  const auto fact = [&](const std::string& name, const std::string& words, scene::Ink ink) {
    cells += scene::caption(name);
    cells += scene::note(words, ink).filling().right().named(name);
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
  fact("checked", "not here, but in Verify and by `palimpsest verify`", c.dim);
  for (const Backend* const backend : application.session.devices()) {
    const std::string reason = application.session.why_not_on(*backend, Form::recurrent, nullptr);
    if (!reason.empty()) fact(backend->name(), "cannot be used here: " + reason, c.alarm);
  }
  return scene::grid(2, std::move(cells)).named("facts");
}

}  // namespace

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
  const Known<RaceFigures> answer = ask(session, FiguresOfRaces{made_of(next.reports, &SeenReport::report),
                                                                next.leading, next.selection, next.whole});
  if (!answer.value || answer.stale) return kept.now;
  next.figures = answer.value;
  kept.now = std::move(next);
  return kept.now;
}

std::set<Index> seen_lengths(const Application& application, const MeasuredNow& now) {
  std::set<Index> lengths;
  if (now.figures) {
    for (const auto& lines : now.figures->lines) {
      for (const RacePoint& point : points_of(lines)) lengths.insert(point.entry.tokens);
    }
  }
  const std::vector<Index>& wished = application.session.state().measure.wish.lengths;
  if (now.may_grow(application.races) || lengths.empty()) lengths.insert(wished.begin(), wished.end());
  return lengths;
}

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
  if (point.kernel)
    words += *point.kernel == KernelKind::plain       ? "\nkernels: plain, written to be read"
             : *point.kernel == KernelKind::vectors   ? "\nkernels: fast, in vector instructions"
             : *point.kernel == KernelKind::registers ? "\nkernels: fused, with the memory in registers"
                                                      : "\nkernels: on tensor cores";
  words += fmt::format("\nof {} runs{}", point.repeats, point.warmed ? ", after a warm-up run" : "");
  if (point.transfers.median > 0 || point.allocations.median > 0) {
    words += fmt::format("\ntransfers: {}\nallocations: {}\nwith both: {}", duration(point.transfers.median),
                         duration(point.allocations.median), spread(point.whole));
  }
  if (point.compute.median > 0) {
    const double rate = point.work.needed_flops / point.compute.median;
    const RateUnit unit = rate_unit(rate);
    const double share = roof_fraction(point, *of.report);
    words +=
        fmt::format("\n{} {}, {}", unit.words(rate), unit.name,
                    of.report->roof_of(entry) ? fmt::format("{} of the machine's limit", in_percent(share))
                                              : std::string("the limit of the machine was not measured"));
  }
  return words;
}

Node measure_panel(Application& application) {
  const MeasuredNow& now = measured(application);
  if (application.tells_story()) {
    const std::string sentence = answer(now, application);
    const auto [said, more] = split_at(sentence, sentence.find("; "));
    return story_page(application, {.headline = {{said}},
                                    .question = question(now),
                                    .about = more + detail(now),
                                    .content = scene::plotted(race_plot(application, now)),
                                    .least = least_story_chart});
  }
  const bool all = application.shows_all();
  return scene::column(
      {scene::row({scene::heading(question(now)).named("question"), scene::rest(),
                   all ? chart_switches(application, now) : race_button(application, now)}),
       headline(answer(now, application), detail(now)), all ? race_controls(application) : scene::column({}),
       scene::plotted(race_plot(application, now)).filling()},
      Gap::near);
}

Node measure_side_panel(Application& application) {
  const MeasuredNow& now = measured(application);
  if (!application.shows_all() && now.has_leading())
    return scene::column({contents(now)}, Gap::tight).named("side");
  Nodes all = {reports(application, now)};
  if (now.has_leading())
    all.insert(all.end(), {scene::rule(), contents(now), scene::rule(), facts(application, now)});
  return scene::column(std::move(all), Gap::tight).named("side");
}

void draw_measure_floor(Application& application) {
  const FloorPanel panel = {.name = "text below the chart", .least = {60, 24}};
  draw_floor_panel(application, panel, [&](Floor& floor, const FloorPlaces& places) {
    const Computation& computed = *application.session.computed();
    floor.rows = {words_row(words_height, words_top)};
    floor.rows.back().label.lines = {
        {.words = fmt::format("the text: n = {}", computed.sequence.tokens), .colour = style::colours().dim}};
    show_floor(application, floor, places.columns);
    // Below the text, if it fits.
    scene::show_at(scene::first_that_fits(
                       {scene::column({scene::space(Gap::none).fixed(words_height + 6),
                                       scene::note("times are of random data of length n, not of this text")},
                                      Gap::none),
                        scene::column({})}),
                   {places.columns.position, places.beside.maximum});
  });
}

}  // namespace palimpsest
