#include <fmt/ranges.h>

#include "app/views/measure.h"

// The controls of Measure: what is raced, and how it is shown.

namespace palimpsest {

namespace {

template <class Value>
void toggle(std::vector<Value>& list, const Value& value) {
  if (std::erase(list, value) == 0) list.push_back(value);
}

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
    left.push_back(wish_line(
        session, preset.words, same_curves(preset.wish(present), present),
        [&preset](RaceWish& next) { next = preset.wish(next); }, preset.explained));
  left.push_back(scene::caption("Forms"));
  left.push_back(wish_line(session, "all", present.forms.empty(), [](RaceWish& next) {
                   next.forms.clear();
                 }).named("all forms"));
  for (const Form form : all_forms)
    left.push_back(wish_line(session, name(form), is_among(form, present.forms),
                             [form](RaceWish& next) { toggle(next.forms, form); }));
  left.push_back(scene::caption("Beside them"));
  left.push_back(wish_line(session, "softmax", present.peer, [](RaceWish& next) { next.peer = !next.peer; }));
  Nodes rules = {wish_line(session,
                           fmt::format("the open one: {}", find_variant(session.choice().variant).label),
                           present.variants.empty(), [](RaceWish& next) { next.variants.clear(); })
                     .named("open rule")};
  for (const Variant& variant : variants()) {
    if (variant.id == "softmax") continue;
    rules.push_back(wish_line(
                        session, variant.label, is_among(variant.id, present.variants),
                        [id = variant.id](RaceWish& next) { toggle(next.variants, id); }, variant.words)
                        .named(variant.id));
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
    all.push_back(wish_line(
        session, device->name(), is_among(device->name(), present.devices),
        [id = device->name()](RaceWish& next) { toggle(next.devices, id); },
        reason.empty() ? std::string() : "Shown from reports; here it cannot be used: " + reason));
  }
  all.push_back(scene::caption("Precisions"));
  for (const Precision precision : all_precisions) {
    all.push_back(wish_line(session, name(precision), is_among(precision, present.precisions),
                            [precision](RaceWish& next) {
                              toggle(next.precisions, precision);
                              if (next.precisions.empty()) next.precisions = {precision};
                            }));
  }
  return scene::column(std::move(all));
}

template <class Lengths>
std::string lengths_words(const Lengths& lengths) {
  if (lengths.size() == 1) return "n = " + in_digits(*lengths.begin());
  return fmt::format("n {} – {}", in_digits(*lengths.begin()), in_digits(*lengths.rbegin()));
}

Node lengths(Session& session) {
  constexpr Index longest = 65536;
  const RaceWish& present = session.state().measure.wish;
  std::set<Index> offered(present.lengths.begin(), present.lengths.end());
  for (Index tokens = 16; tokens <= longest; tokens *= 2) offered.insert(tokens);
  Nodes all = {scene::caption("Lengths that are raced here, in tokens")};
  for (const Index tokens : offered) {
    all.push_back(
        wish_line(session, in_digits(tokens), is_among(tokens, present.lengths), [tokens](RaceWish& next) {
          toggle(next.lengths, tokens);
          if (next.lengths.empty()) next.lengths = {tokens};
          std::ranges::sort(next.lengths);
        }));
  }
  all.push_back(scene::caption("Points that take over 2 s per run are left out."));
  return scene::column(std::move(all));
}

/// Numbers of which one is chosen, below a caption.
void add_numbers(Nodes& all, Session& session, const char* words, std::initializer_list<Index> offered,
                 Index present, const std::function<void(RaceWish&, Index)>& set) {
  Nodes tabs;
  for (const Index number : offered)
    tabs.push_back(
        Node{scene::Button{std::to_string(number), scene::Button::Look::tab, number == present}}.on(
            [&session, set, number] { wish(session, [&](RaceWish& next) { set(next, number); }); }));
  all.push_back(scene::caption(words));
  all.push_back(scene::row(std::move(tabs), Gap::wide).named(words));
}

Node shape(Session& session, const MeasuredNow& now) {
  const RaceWish& present = session.state().measure.wish;
  Nodes all;
  add_numbers(all, session, "B, batches", {1, 2, 4, 8}, present.shape.batches,
              [](RaceWish& next, Index number) { next.shape.batches = number; });
  add_numbers(all, session, "H, heads of each", {1, 2, 4, 8, 16, 32}, present.shape.heads,
              [](RaceWish& next, Index number) { next.shape.heads = number; });
  add_numbers(all, session, "D, channels of a head", {16, 32, 64, 128, 256}, present.shape.dk,
              [](RaceWish& next, Index number) { next.shape.dk = next.shape.dv = number; });
  add_numbers(all, session, "C, tokens of a chunk", {16, 32, 64, 128}, present.chunk_size,
              [](RaceWish& next, Index number) { next.chunk_size = number; });
  std::vector<RaceShape> shapes;
  for (const SeenReport& report : now.reports) {
    for (const RaceShape& each : race_shapes(*report.report)) {
      if (!is_among(each, shapes)) shapes.push_back(each);
    }
  }
  if (!shapes.empty()) all.push_back(scene::caption("In the reports"));
  for (const RaceShape& each : shapes)
    all.push_back(wish_line(session, in_words(each), present.shape == each,
                            [each](RaceWish& next) { next.shape = each; }));
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

Node pair(Session& session, bool MeasureState::*second, const char* one, const char* other, const char* tip) {
  return scene::segments(
      {one, other}, session.state().measure.*second ? 1 : 0,
      [&session, second](std::size_t chosen) {
        session.change([&](SessionState& state) { state.measure.*second = chosen == 1; });
      },
      tip);
}

}  // namespace

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
    all.push_back(scene::note(fmt::format("{:.0f} % · {}", 100 * races.progress(), races.under_way()))
                      .named("progress"));
  all.push_back(scene::pill(label, !runs && !again && !nowhere)
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
                    }));
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
    all.push_back(Node{scene::Menu{"save", [&application, &now] { return save_menu(application, now); }, 160}}
                      .named("save report")
                      .told("Saves the primary report. `palimpsest render --workspace measure --race FILE` "
                            "draws it as a picture."));
  const bool has_transfers = std::ranges::any_of(now.reports, [](const SeenReport& report) {
    return std::ranges::any_of(report.report->points,
                               [](const RacePoint& point) { return point.transfers.median > 0; });
  });
  if (has_transfers || session.state().measure.whole)
    all.push_back(pair(session, &MeasureState::whole, "computing", "with transfers",
                       "Computing alone, or with all transfers and allocations."));
  all.push_back(pair(session, &MeasureState::per_token, "time", "per token",
                     "The time of the whole sequence, or per token."));
  return scene::row(std::move(all)).named("switches");
}

}  // namespace palimpsest
