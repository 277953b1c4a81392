#include "app/window/ui_bench.h"

#include <unistd.h>
#include <cfloat>
#include <fstream>
#include <sstream>

#include "app/scene/parts.h"
#include "app/session/presets.h"
#include "app/session/typed_text.h"
#include "app/views/attend.h"
#include "app/window/offscreen.h"

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
constexpr float fastest = 64;                              // steps a second while it plays
constexpr int most_frames = 36'000;                        // until a result must be there: ten minutes
constexpr const char* late = "no result after ten minutes";

/// What a person does in frame `number`.
using Action = std::function<void(Application& application, int number)>;

/// The program with a simulated user who acts once a frame.
class Person {
 public:
  explicit Person(const UiBench& bench)
      : offscreen_(bench.width, bench.height), patience_(std::chrono::duration<double>(bench.patience)) {}

  Application& application() { return application_; }

  /// One frame.
  FrameTime frame(const std::function<void()>& act, bool seen = true) {
    started_ = Clock::now();
    const FrameTime time = offscreen_.time(
        [&] {
          act();
          application_.draw(1);
        },
        seen);
    if (!application_.undrawn().empty()) throw Error(application_.undrawn());
    return time;
  }

  /// What is left of the last frame's time on a screen.
  void rest() const { std::this_thread::sleep_until(started_ + frame_period); }

  /// Looks on until all that is looked at is computed, or patience ends; the place itself is always waited
  /// for. Returns whether all is there.
  bool await() {
    application_.session.wait_for_place();
    for (const auto end = Clock::now() + patience_;; std::this_thread::sleep_for(frame_period)) {
      pass();
      if (!application_.session.questions().busy()) return true;
      if (Clock::now() >= end) return false;
    }
  }

  /// The same, until everything has come to rest on the screen, too.
  bool settle() {
    const bool is_there = await();
    for (int i = 0; i < settling_frames; ++i) pass();
    return is_there;
  }

 private:
  void pass() {
    offscreen_.pass([&] { application_.draw(1); });
  }

  Application application_;
  Offscreen offscreen_;
  std::chrono::duration<double> patience_;
  Clock::time_point started_;
};

/// What frames came to.
FramesOf frames_of(const std::string& form, const std::string& what, const std::vector<FrameTime>& times,
                   std::optional<bool> complete = {}) {
  const auto spread_of = [&](double FrameTime::*part) {
    std::vector<double> durations;
    for (const FrameTime& time : times) durations.push_back(time.*part);
    return spread(durations);
  };
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

void require_no_problem(const Session& session) {
  if (!session.message().empty()) throw InputError(session.message());
}

/// Opens a long sequence from the first start's view.
FramesOf open_sequence(Person& person, const std::string& id) {
  Session& session = person.application().session;
  person.application().open_first_text();
  person.settle();
  std::vector<FrameTime> times;
  const auto is_open = [&] { return session.data().id == id || !session.message().empty(); };
  times.push_back(person.frame([&] { session.open_named(id); }));
  for (int i = 0; !is_open(); ++i) {
    if (i == most_frames) throw Error(late);
    person.rest();
    times.push_back(person.frame([] {}));
  }
  require_no_problem(session);
  for (int i = 0; i < settling_frames; ++i) times.push_back(person.frame([] {}));
  return frames_of(name(session.choice().form), "opening the sequence", times);
}

void drag_decay(Session& session, int number) {
  session.choose(
      [number](Choice& choice) { set_slider(choice.edits, "scale_decay", 1 + 0.001 * (number + 1)); },
      "decay");
}

/// As the pointer does that is dragged along the whole bar under the words.
Action scrub(int frames) {
  return [frames](Application& application, int number) {
    Session& session = application.session;
    session.go_to_token(session.data().tokens * number / frames);
  };
}

Action step_by(Session::Grain grain) {
  return [grain](Application& application, int) { application.step(grain, 1); };
}

/// A place for every three frames: the pointer stays, so that what it points at is explained.
std::size_t place_of(int number) { return static_cast<std::size_t>(number) / 3; }

void point_at(float x, float y) { ImGui::GetIO().AddMousePosEvent(x, y); }

/// Moves the pointer over all panels.
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

/// From point to point of Measure's chart.
void point_at_curves(Application&, int number) {
  const std::vector<const Part*> points = parts().below("measure/times/point/leads");
  if (parts().below("measure/times/point/others").empty())
    throw Error("Measure does not draw one report over the other");
  const Rectangle& at = points[place_of(number) % points.size()]->where;
  point_at((at.minimum.x + at.maximum.x) / 2, (at.minimum.y + at.maximum.y) / 2);
}

void point_nowhere() { point_at(-FLT_MAX, -FLT_MAX); }

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
      {"scrubbing", scrub(bench.frames)},
      {"pointing at everything", point_everywhere(bench)},
  };
  const bool has_curves = !parts().below("measure/times/point/leads").empty();  // there is room for them
  if (has_curves) actions.emplace_back("pointing at curves", point_at_curves);
  return actions;
}

FramesOf frames_of_action(Person& person, const NamedAction& named, const UiBench& bench) {
  const auto& [what, action] = named;
  Application& application = person.application();
  application.session.go_to_token(application.session.data().tokens / 4);
  application.steps_per_second = fastest;
  const bool is_complete = person.settle();
  std::vector<FrameTime> times;
  for (int i = 0; i < bench.frames; ++i) {
    times.push_back(person.frame([&] { action(application, i); }));
    person.rest();
  }
  application.playing = false;
  point_nowhere();
  // The frame that takes over what a change has made counts too.
  const Session& session = application.session;
  const auto is_there = [&] { return session.computed()->choice.edits == session.choice().edits; };
  for (int i = 0; !is_there(); ++i) {
    if (i == most_frames) throw Error(late);
    times.push_back(person.frame([] {}));
    person.rest();
  }
  return frames_of(name(session.choice().form), what, times, is_complete);
}

/// Adds a report of a slower machine: the shipped one with all times multiplied by 1.5.
void overlay_report(Person& person) {
  person.settle();
  Application& application = person.application();
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
  constexpr Form measured[] = {Form::recurrent, Form::chunkwise};
  std::vector<FramesOf> found;
  if (bench.workspace == "measure") overlay_report(person);
  const auto actions = actions_at_rest(bench);
  for (const Form form : measured) {
    person.application().session.choose([form](Choice& choice) { choice.form = form; });
    for (const NamedAction& action : actions) found.push_back(frames_of_action(person, action, bench));
  }
  const NamedAction drag = {"dragging a slider",
                            [](Application& a, int number) { drag_decay(a.session, number); }};
  for (const Form form : measured) {
    person.application().session.choose([form](Choice& choice) { choice.form = form; });
    found.push_back(frames_of_action(person, drag, bench));
  }
  return found;
}

/// How long changes take until their results are on the screen, by the clock and of all threads; what OpenGL
/// needs is left out.
std::pair<Spread, Spread> changes_to_pictures(Person& person, int changes,
                                              const std::function<void(Session&, int)>& change) {
  Session& session = person.application().session;
  std::vector<double> durations;
  std::vector<double> processor;
  for (int i = 0; i < changes; ++i) {
    const std::uint64_t before = session.computed()->version;
    const double start = clock_milliseconds(CLOCK_MONOTONIC);
    const double used = clock_milliseconds(CLOCK_PROCESS_CPUTIME_ID);
    double driver = person.frame([&] { change(session, i); }, false).driver;
    for (int frame = 0; session.computed()->version == before; ++frame) {
      if (frame == most_frames) throw Error(late);
      person.rest();
      driver += person.frame([] {}, false).driver;
    }
    durations.push_back(clock_milliseconds(CLOCK_MONOTONIC) - start - driver);
    processor.push_back(clock_milliseconds(CLOCK_PROCESS_CPUTIME_ID) - used);
    person.await();
  }
  return {spread(durations), spread(processor)};
}

/// Opens a typed text of at least so many pieces, and types letters behind it.
std::pair<Spread, Spread> letters_to_answers(Person& person, int letters, Index tokens) {
  Session& session = person.application().session;
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
    return has_squares() && is_good(seen_weights(person.application(), WeighedBy::rule)) &&
           is_good(seen_weights(person.application(), WeighedBy::softmax));
  };
  PictureTimes times;
  double driver = 0;
  const double start = clock_milliseconds(CLOCK_MONOTONIC);
  const auto now = [&] { return clock_milliseconds(CLOCK_MONOTONIC) - start - driver; };
  person.application().enter("attend");
  for (int frame = 0; times.fine == 0; ++frame) {
    if (frame == most_frames) throw Error(late);
    driver += person.frame([] {}, false).driver;
    if (times.coarse == 0 && squares([](const SeenWeights& seen) { return seen.is_covered; }))
      times.coarse = now();
    if (squares([](const SeenWeights& seen) { return seen.there == seen.wanted; })) times.fine = now();
    if (frame == settling_frames && !has_squares()) return std::nullopt;
    person.rest();
  }
  return times;
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
    Person person(bench);
    person.application().enter(bench.workspace);
    times.opening = open_sequence(person, sequence(bench.tokens, bench.channels));
    times.frames = frames_of_forms(person, bench);
  }
  if (bench.workspace == "attend") {
    Person person(bench);
    times.weights = weights_to_picture(person, bench);
  }
  Person person(bench);
  person.application().enter(bench.workspace);
  person.application().session.open_named(sequence(bench.dragged_tokens, bench.dragged_channels));
  person.settle();
  require_no_problem(person.application().session);
  times.changes = std::max(bench.frames / 4, 1);
  std::tie(times.slider, times.slider_processor) = changes_to_pictures(person, times.changes, drag_decay);
  std::tie(times.typing, times.typing_processor) =
      letters_to_answers(person, times.changes, bench.typed_tokens);
  times.frames.push_back(
      frames_of_action(person, {"stepping in a typed text", step_by(Session::Grain::token)}, bench));
  return times;
}

}  // namespace palimpsest
