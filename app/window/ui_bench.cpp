#include <unistd.h>
#include <cfloat>
#include <fstream>
#include <sstream>

#include "app/commands/options.h"
#include "app/scene/parts.h"
#include "app/session/presets.h"
#include "app/session/typed_text.h"
#include "app/views/attend.h"
#include "app/window/offscreen.h"
#include "app/window/opening.h"
#include "app/window/window_commands.h"
#include "core/base/parallel_for.h"

namespace palimpsest {

namespace {

/// The milliseconds between the machine's start and the process's, as /proc/self/stat has them.
double process_began() {
  std::ifstream file("/proc/self/stat");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  // The second field is the program's name in parentheses, which may hold spaces; the time is the 22nd.
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string field;
  for (int number = 3; number < 22; ++number) fields >> field;
  double ticks = 0;
  fields >> ticks;
  return 1e3 * ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds frame_period{16'667};  // of a screen with 60 frames a second
constexpr int most_frames = 36'000;                        // until a result must be there: ten minutes

/// What a person does in frame `number`.
using Action = std::function<void(Application& application, int number)>;

/// The program with a simulated user who acts once a frame.
struct Person {
  const UiBench& bench;
  Application application{};
  Offscreen offscreen{bench.width, bench.height};
  Clock::time_point started = {};

  FrameTime frame(const std::function<void()>& act, bool seen = true) {
    started = Clock::now();
    const FrameTime time = offscreen.time(
        [&] {
          act();
          application.draw(1);
        },
        seen);
    if (!application.undrawn().empty()) throw Error(application.undrawn());
    return time;
  }

  /// Draws frames in which nothing is done until something is there, and hands over what each took. Throws an
  /// Error after ten minutes.
  void look_on_until(const std::function<bool()>& is_there, const std::function<void(const FrameTime&)>& take,
                     bool seen = true) {
    for (int i = 0; !is_there(); ++i) {
      if (i == most_frames) throw Error("no result after ten minutes");
      rest();
      take(frame([] {}, seen));
    }
  }

  /// What is left of the last frame's time on a screen.
  void rest() const { std::this_thread::sleep_until(started + frame_period); }

  /// Looks on until all that is looked at is computed, or patience ends; the place itself is always waited
  /// for. Returns whether all is there.
  bool await() {
    application.session.wait_for_place();
    for (const auto end = Clock::now() + std::chrono::duration<double>(bench.patience);;
         std::this_thread::sleep_for(frame_period)) {
      pass();
      if (!application.session.questions().busy()) return true;
      if (Clock::now() >= end) return false;
    }
  }

  /// The same, until everything has come to rest on the screen, too.
  bool settle() {
    const bool is_there = await();
    for (int i = 0; i < settling_frames; ++i) pass();
    return is_there;
  }

  void pass() {
    offscreen.pass([&] { application.draw(1); });
  }
};

FramesOf frames_of(const std::string& form, const std::string& what, const std::vector<FrameTime>& times,
                   std::optional<bool> complete = {}) {
  const auto spread_of = [&](double FrameTime::*part) { return spread(made_of(times, part)); };
  return {form,
          what,
          times.size(),
          spread_of(&FrameTime::processor),
          spread_of(&FrameTime::elapsed),
          spread_of(&FrameTime::driver).median,
          complete};
}

std::string sequence(Index tokens, Index channels) {
  return preset_id(presets().front(), {.tokens = tokens, .dk = channels, .dv = channels});
}

/// Opens a long sequence from the first start's view.
FramesOf open_sequence(Person& person, const std::string& id) {
  Session& session = person.application.session;
  person.application.open_first_text();
  person.settle();
  std::vector<FrameTime> times = {person.frame([&] { session.open_named(id); })};
  person.look_on_until([&] { return session.data().id == id || !session.message().empty(); },
                       [&](const FrameTime& time) { times.push_back(time); });
  require_no_problem(session);
  for (int i = 0; i < settling_frames; ++i) times.push_back(person.frame([] {}));
  return frames_of(name(session.choice().form), "opening the sequence", times);
}

void drag_decay(Session& session, int number) {
  session.choose(
      [number](Choice& choice) { set_slider(choice.edits, "scale_decay", 1 + 0.001 * (number + 1)); },
      "decay");
}

Action step_by(Session::Grain grain) {
  return [grain](Application& application, int) { application.step(grain, 1); };
}

/// A place for every three frames: the pointer stays, so that what it points at is explained.
std::size_t place_of(int number) { return static_cast<std::size_t>(number) / 3; }

void point_at(float x, float y) { ImGui::GetIO().AddMousePosEvent(x, y); }

Action point_everywhere(const UiBench& bench) {
  return [&bench](Application&, int number) {
    // Fractions of two irrational numbers cover a square evenly, however many there are.
    const auto share = [place = static_cast<double>(place_of(number))](double step) {
      return static_cast<float>(std::fmod(step * place, 1));
    };
    point_at(static_cast<float>(bench.width) * share(0.7548776662),
             static_cast<float>(bench.height) * share(0.5698402910));
  };
}

void point_at(const Rectangle& at) {
  point_at((at.minimum.x + at.maximum.x) / 2, (at.minimum.y + at.maximum.y) / 2);
}

void point_at_curves(Application&, int number) {
  const std::vector<const Part*> points = parts().below("measure/times/point/leads");
  if (parts().below("measure/times/point/others").empty())
    throw Error("Measure does not draw one report over the other");
  point_at(points[place_of(number) % points.size()]->where);
}

constexpr std::string_view weights_area = "attend/rule/area";

/// Four steps of the wheel nearer, four away, and again.
void zoom_weights(Application&, int number) {
  const Part* const area = parts().find(weights_area);
  if (!area) throw Error("Attend does not draw the weights");
  point_at(area->where);
  if (number % 3 == 0) ImGui::GetIO().AddMouseWheelEvent(0, place_of(number) % 8 < 4 ? 1 : -1);
}

using NamedAction = std::pair<const char*, Action>;

/// What a person does with a form while all that is looked at is there.
std::vector<NamedAction> actions_at_rest(const UiBench& bench) {
  std::vector<NamedAction> actions = {
      {"idle", [](Application&, int) {}},
      {"stepping by operation", step_by(Session::Grain::operation)},
      {"stepping by token", step_by(Session::Grain::token)},
      {"stepping by chunk", step_by(Session::Grain::chunk)},
      {"playing",
       [](Application& a, int number) {
         if (number == 0) a.playing = true;
       }},
      {"scrubbing",  // along the whole bar under the words
       [&bench](Application& a, int number) {
         a.session.go_to_token(a.session.data().tokens * number / bench.frames);
       }},
      {"pointing at everything", point_everywhere(bench)},
  };
  // What there is room for:
  if (!parts().below("measure/times/point/leads").empty())
    actions.emplace_back("pointing at curves", point_at_curves);
  if (parts().find(weights_area) != nullptr) actions.emplace_back("zooming the weights", zoom_weights);
  return actions;
}

FramesOf frames_of_action(Person& person, const NamedAction& named, const UiBench& bench) {
  const auto& [what, action] = named;
  Application& application = person.application;
  application.session.go_to_token(application.session.data().tokens / 4);
  application.steps_per_second = Application::fastest;
  const bool is_complete = person.settle();
  std::vector<FrameTime> times;
  for (int i = 0; i < bench.frames; ++i) {
    times.push_back(person.frame([&] { action(application, i); }));
    person.rest();
  }
  application.playing = false;
  point_at(-FLT_MAX, -FLT_MAX);  // nowhere
  // The frame that takes over what a change has made counts too.
  const Session& session = application.session;
  person.look_on_until([&] { return session.computed()->choice.edits == session.choice().edits; },
                       [&](const FrameTime& time) { times.push_back(time); });
  return frames_of(name(session.choice().form), what, times, is_complete);
}

/// Adds a report of a slower machine: the shipped one with all times multiplied by 1.5.
void overlay_report(Person& person) {
  person.settle();
  Application& application = person.application;
  const std::vector<SeenReport>& seen = application.races.seen();
  const std::size_t leading = application.races.leading(application.session);
  if (leading >= seen.size()) throw Error("no report ships that has the curves of Measure");
  RaceReport slower = *seen[leading].report;
  for (RacePoint& point : slower.points) {
    for (Quartiles* const seconds : {&point.compute, &point.whole}) {
      for (double* const each : {&seconds->low, &seconds->median, &seconds->high}) *each *= 1.5;
    }
  }
  application.races.adopt(application.session, std::move(slower));
  person.settle();
}

/// Sliders are dragged last: after each of them everything is computed anew.
std::vector<FramesOf> frames_of_forms(Person& person, const UiBench& bench) {
  std::vector<FramesOf> found;
  const auto measure_forms = [&](const std::vector<NamedAction>& actions) {
    for (const Form form : {Form::recurrent, Form::chunkwise}) {
      person.application.session.choose([form](Choice& choice) { choice.form = form; });
      for (const NamedAction& action : actions) found.push_back(frames_of_action(person, action, bench));
    }
  };
  if (bench.workspace == "measure") overlay_report(person);
  measure_forms(actions_at_rest(bench));
  measure_forms({{"dragging a slider", [](Application& a, int number) { drag_decay(a.session, number); }}});
  return found;
}

/// How long changes take until their results are on the screen, by the clock and of all threads; what OpenGL
/// needs is left out.
ChangeTimes changes_to_pictures(Person& person, int changes,
                                const std::function<void(Session&, int)>& change) {
  Session& session = person.application.session;
  std::vector<double> durations;
  std::vector<double> processor;
  for (int i = 0; i < changes; ++i) {
    const std::uint64_t before = session.computed()->version;
    const double start = clock_milliseconds(CLOCK_MONOTONIC);
    const double used = clock_milliseconds(CLOCK_PROCESS_CPUTIME_ID);
    double driver = person.frame([&] { change(session, i); }, false).driver;
    person.look_on_until([&] { return session.computed()->version != before; },
                         [&](const FrameTime& time) { driver += time.driver; }, false);
    durations.push_back(clock_milliseconds(CLOCK_MONOTONIC) - start - driver);
    processor.push_back(clock_milliseconds(CLOCK_PROCESS_CPUTIME_ID) - used);
    person.await();
  }
  return {spread(durations), spread(processor)};
}

/// Opens a typed text of at least so many pieces, and types letters behind it.
ChangeTimes letters_to_answers(Person& person, int letters, Index tokens) {
  Session& session = person.application.session;
  TypedText typed = usual_text();
  const std::string once = typed.text;
  for (session.read(typed); person.settle(), session.data().tokens < tokens; session.read(typed))
    typed.text += ". " + once;
  require_no_problem(session);
  return changes_to_pictures(person, letters, [](Session& open, int) {
    TypedText next = open.data().read->typed;
    next.text += "s";
    open.read(next, "text");
  });
}

/// From entering Attend, with the sequence open, to its pictures; nothing where there is no room for them.
std::optional<PictureTimes> weights_to_picture(Person& person, const UiBench& bench) {
  open_sequence(person, sequence(bench.tokens, bench.channels));
  person.settle();
  const auto has_squares = [] { return attend_sight().side > 0; };
  const auto squares = [&](auto is_good) {
    return has_squares() && is_good(seen_weights(person.application, WeighedBy::rule)) &&
           is_good(seen_weights(person.application, WeighedBy::softmax));
  };
  PictureTimes times;
  double driver = 0;
  const double start = clock_milliseconds(CLOCK_MONOTONIC);
  const auto now = [&] { return clock_milliseconds(CLOCK_MONOTONIC) - start - driver; };
  person.application.enter("attend");
  int frames = 0;
  const auto has_no_room = [&] { return frames > settling_frames && !has_squares(); };
  person.look_on_until(
      [&] { return times.fine > 0 || has_no_room(); },
      [&](const FrameTime& time) {
        ++frames;
        driver += time.driver;
        if (times.coarse == 0 && squares([](const SeenWeights& seen) { return seen.is_covered; }))
          times.coarse = now();
        if (squares([](const SeenWeights& seen) { return seen.there == seen.wanted; })) times.fine = now();
      },
      false);
  return times.fine > 0 ? std::optional(times) : std::nullopt;
}

// What is told of it.

constexpr double aim_median = 2;     // milliseconds of a frame
constexpr double aim_high = 8;       // of all but one frame in a hundred
constexpr double aim_weights = 300;  // until a coarse picture of all weights is there
constexpr double aim_slider = 50;    // from a change to its picture
constexpr double aim_opening = 50;   // of the longest frame
constexpr double aim_start = 300;    // from the beginning of the process to the window's first frame

/// Which machine, when, and which program.
struct Circumstances {
  std::string processor = processor_name();
  unsigned threads = processor_threads();
  std::string date = present_date();
  std::string program = fmt::format("palimpsest {} ({})", version(), commit());
};

std::string milliseconds(double time) { return fmt::format("{:.2f}", time); }

std::string met(bool is_met) { return is_met ? "yes" : "no"; }

std::string text_of(const std::vector<StartMoment>& times) {
  constexpr std::pair<const char*, std::string_view> steps[] = {{"the program begins", "the system's"},
                                                                {"the place is computed", "the program's"},
                                                                {"a window is open", "the driver's"},
                                                                {"its frame is made", "the program's"},
                                                                {"its frame is seen", "the driver's"}};
  TextRows table = {{"until", "at", "took", "cpu", "whose"}};
  double driver = 0;
  StartMoment before;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto& [words, whose] = steps[i];
    const double took = times[i].clock - before.clock;
    if (whose == "the driver's") driver += took;
    table.push_back({words, milliseconds(times[i].clock), milliseconds(took),
                     milliseconds(times[i].processor - before.processor), std::string(whose)});
    before = times[i];
  }
  return columns(table, 0) + '\n' +
         paragraph(fmt::format(
             "Milliseconds since the process began, by the clock, and cpu time of the window's thread. The "
             "first frame is visible after {} ms; the driver takes {} of them. Aim: at most {:g} ms: {}.",
             milliseconds(before.clock), milliseconds(driver), aim_start, met(before.clock <= aim_start)));
}

std::string text_of(const ChangeTimes& times) {
  return fmt::format(
      "median {} ms, 99 % {} ms, worst {} ms; cpu time of all threads: median {} ms. Aim: at most {:g} ms by "
      "the clock: {}.",
      milliseconds(times.clock.median), milliseconds(times.clock.high), milliseconds(times.clock.worst),
      milliseconds(times.processor.median), aim_slider, met(times.clock.high <= aim_slider));
}

std::vector<std::string> row(const FramesOf& frames, bool is_met) {
  std::vector<std::string> cells = {frames.form, frames.what, std::to_string(frames.frames)};
  for (const Spread& spread : {frames.processor, frames.elapsed}) {
    for (const double time : {spread.median, spread.high, spread.worst}) cells.push_back(milliseconds(time));
  }
  cells.push_back(milliseconds(frames.driver));
  cells.push_back(frames.complete ? met(*frames.complete) : "");
  cells.push_back(met(is_met));
  return cells;
}

std::string text_of(const Circumstances& here) {
  return fmt::format("{}, {}\n{}, {} threads", here.program, here.date, here.processor, here.threads);
}

std::string text_of(const UiBench& bench, const UiTimes& times) {
  std::string text = paragraph(fmt::format(
      "Milliseconds per frame of the workspace {} at T = {}, d = {}. \"cpu\" is the cpu time of the window's "
      "thread until the draw lists are finished, uploads to the graphics card included. \"clock\" is the "
      "same by the clock, with waiting and other programs. \"OpenGL\" is the time of the driver after that. "
      "\"complete\" is yes if everything visible was computed when the frames began; the program waits at "
      "most {:g} s for it. Aim: a cpu median of at most {:g}, 99 % of the frames at most {:g}; while a "
      "sequence opens, no frame above {:g}.{}",
      bench.workspace, bench.tokens, bench.channels, bench.patience, aim_median, aim_high, aim_opening,
      bench.workspace == "measure" ? " The shipped report and one of a slower machine are open." : ""));
  TextRows table = {{"form", "what", "frames", "cpu median", "99 %", "worst", "clock median", "99 %", "worst",
                     "OpenGL", "complete", "aim"}};
  for (const FramesOf& frames : times.frames)
    table.push_back(row(frames, frames.processor.median <= aim_median && frames.processor.high <= aim_high));
  table.push_back(row(times.opening, times.opening.processor.worst <= aim_opening));
  text += '\n' + columns(table, 0) + '\n';
  text += paragraph(fmt::format(
      "From a change of a slider to the picture of its result at T = {}, d = {}, by the clock at 60 frames "
      "per second, without OpenGL, {} changes: {}",
      bench.dragged_tokens, bench.dragged_channels, times.changes, text_of(times.slider)));
  text += paragraph(
      fmt::format("From a letter typed after a text of {} tokens to the picture with the small model's "
                  "answer, likewise: {}",
                  bench.typed_tokens, text_of(times.typing)));
  if (times.weights)
    text += paragraph(fmt::format(
        "From entering Attend to a coarse picture of all {0} x {0} weights of both rules: {1} ms; to every "
        "row: {2} ms, by the clock, without OpenGL. Aim for the coarse picture: at most {3:g} ms: {4}.",
        bench.tokens, milliseconds(times.weights->coarse), milliseconds(times.weights->fine), aim_weights,
        met(times.weights->coarse <= aim_weights)));
  return text;
}

Json json_of(const Spread& spread) {
  return {{"median", spread.median}, {"99th", spread.high}, {"worst", spread.worst}};
}

Json json_of(const FramesOf& frames) {
  Json found = {{"form", frames.form},
                {"what", frames.what},
                {"frames", frames.frames},
                {"cpu_ms", json_of(frames.processor)},
                {"clock_ms", json_of(frames.elapsed)},
                {"opengl_ms", frames.driver}};
  if (frames.complete) found["complete"] = *frames.complete;
  return found;
}

Json json_of(const UiBench& bench, const UiTimes& times) {
  Json frames = Json::array();
  for (const FramesOf& each : times.frames) frames.push_back(json_of(each));
  Json found = {{"workspace", bench.workspace},
                {"frames", frames},
                {"opening", json_of(times.opening)},
                {"slider",
                 {{"tokens", bench.dragged_tokens},
                  {"channels", bench.dragged_channels},
                  {"changes", times.changes},
                  {"clock_ms", json_of(times.slider.clock)},
                  {"cpu_ms", json_of(times.slider.processor)}}},
                {"typing",
                 {{"tokens", bench.typed_tokens},
                  {"clock_ms", json_of(times.typing.clock)},
                  {"cpu_ms", json_of(times.typing.processor)}}}};
  if (times.weights) found["weights_ms"] = {{"coarse", times.weights->coarse}, {"fine", times.weights->fine}};
  return found;
}

Json json_of(const UiBench& bench, const Circumstances& here, const Json& workspaces) {
  return {{"program", here.program},
          {"date", here.date},
          {"processor", here.processor},
          {"threads", here.threads},
          {"size", {bench.width, bench.height}},
          {"tokens", bench.tokens},
          {"channels", bench.channels},
          {"patience_s", bench.patience},
          {"aims",
           {{"median_ms", aim_median},
            {"99th_ms", aim_high},
            {"slider_ms", aim_slider},
            {"opening_ms", aim_opening}}},
          {"workspaces", workspaces}};
}

std::vector<const char*> workspaces_asked(const std::optional<std::string>& asked) {
  if (asked)
    return {find_row(workspaces(), *asked, &Workspace::id,
                     fmt::format("--workspace is \"{}\"; expected one of", shown(*asked)))
                .id};
  return made_of(workspaces(), &Workspace::id);
}

int measure(const CommandOptions& options, const Console& console) {
  UiBench bench;
  std::tie(bench.width, bench.height) = parse_size(options["--size"]);
  bench.tokens = parse_count(options["--tokens"], "--tokens", 3, most_preset_tokens);
  bench.channels = parse_count(options["--channels"], "--channels", 1, most_preset_channels);
  bench.frames = static_cast<int>(parse_count(options["--frames"], "--frames", 1, 100'000));
  bench.patience = options.as_number("--patience");
  const std::vector<const char*> measured = workspaces_asked(options.if_given("--workspace"));
  bench.dragged_tokens = std::min(bench.dragged_tokens, bench.tokens);
  bench.dragged_channels = std::min(bench.dragged_channels, bench.channels);
  const std::optional<std::string> json = options.if_given("--json");
  if (json) writable_target(*json);  // before the work is done
  const Circumstances here;
  console.out << fmt::format("{}; Gated DeltaNet, {} x {} pixels, fonts at scale 1\n", text_of(here),
                             bench.width, bench.height);
  Json found = Json::array();
  for (const char* workspace : measured) {
    bench.workspace = workspace;
    const UiTimes times = measure_ui(bench);
    console.out << '\n' << text_of(bench, times) << std::flush;
    found.push_back(json_of(bench, times));
  }
  if (json) write_text(*json, json_of(bench, here, found).dump(2) + '\n');
  return exit_done;
}

}  // namespace

StartMoment start_moment() {
  static const double began = process_began();
  return {clock_milliseconds(CLOCK_BOOTTIME) - began, clock_milliseconds(CLOCK_THREAD_CPUTIME_ID)};
}

Spread spread(const std::vector<double>& durations) {
  return {
      .median = quantile(durations, 0.5), .high = quantile(durations, 0.99), .worst = quantile(durations, 1)};
}

UiTimes measure_ui(const UiBench& bench) {
  UiTimes times;
  {
    Person person{bench};
    person.application.enter(bench.workspace);
    times.opening = open_sequence(person, sequence(bench.tokens, bench.channels));
    times.frames = frames_of_forms(person, bench);
  }
  if (bench.workspace == "attend") {
    Person person{bench};
    times.weights = weights_to_picture(person, bench);
  }
  Person person{bench};
  person.application.enter(bench.workspace);
  person.application.session.open_named(sequence(bench.dragged_tokens, bench.dragged_channels));
  person.settle();
  require_no_problem(person.application.session);
  times.changes = std::max(bench.frames / 4, 1);
  times.slider = changes_to_pictures(person, times.changes, drag_decay);
  times.typing = letters_to_answers(person, times.changes, bench.typed_tokens);
  times.frames.push_back(
      frames_of_action(person, {"stepping in a typed text", step_by(Session::Grain::token)}, bench));
  return times;
}

Task add_window_bench(CommandOptions command, Console console) {
  const CommandOptions start = command.subcommand("start", "Open a window and time its first frame");
  CommandOptions ui = command.subcommand("ui", "Time the frames of the window, without a display");
  ui.option("--size", "pixels, WIDTHxHEIGHT", "1920x1080");
  ui.option("--tokens", "of the long sequence, 3 to 1000000", "4096");
  ui.option("--channels", "of its keys and values, 1 to 512", "128");
  ui.option("--frames", "measured for each action", "240");
  ui.number("--patience", "longest wait, in seconds, for what is visible before its frames are measured",
            UiBench().patience, 0, 3600);
  ui.option("--workspace", "only this one: step, learn, …");
  ui.option("--json", "also write the figures to this file");
  return [ui, start, console] {
    if (!start.was_given()) return measure(ui, console);
    const std::vector<StartMoment> times = time_start();
    console.out << text_of(Circumstances()) << "\n\n" << text_of(times);
    return static_cast<int>(exit_done);
  };
}

}  // namespace palimpsest
