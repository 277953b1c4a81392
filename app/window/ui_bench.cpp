#include "app/window/ui_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <functional>
#include <thread>

#include "app/session/presets.h"
#include "app/studio/application.h"
#include "app/views/attend.h"
#include "app/window/offscreen.h"
#include "core/base/error.h"

namespace palimpsest {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds frame_period{16'667};  // of a screen with 60 frames a second
constexpr int settling_frames = 30;
constexpr float fastest = 64;        // steps a second while it plays
constexpr int most_frames = 36'000;  // until a result must be there: ten minutes
constexpr const char* late = "no result is there after ten minutes";

/// What a person does in frame `number`.
using Action = std::function<void(Application& application, int number)>;

/// A program in front of somebody who acts once a frame.
class Person {
 public:
  explicit Person(const UiBench& bench) : offscreen_(bench.width, bench.height) {}

  Application& application() { return application_; }

  /// One frame.
  FrameTime frame(const std::function<void()>& act, bool seen = true) {
    started_ = Clock::now();
    const FrameTime time = offscreen_.time(
        [&] {
          act();
          application_.draw(offscreen_.scale());
        },
        seen);
    if (!application_.undrawn().empty()) throw Error(application_.undrawn());
    return time;
  }

  /// What is left of the last frame's time on a screen.
  void rest() const { std::this_thread::sleep_until(started_ + frame_period); }

  void settle() {
    application_.session.wait();
    for (int i = 0; i < settling_frames; ++i) offscreen_.pass([&] { application_.draw(offscreen_.scale()); });
  }

 private:
  Application application_;
  Offscreen offscreen_;
  Clock::time_point started_;
};

/// The durations of frames.
class Durations {
 public:
  void add(const FrameTime& time) {
    processor_.push_back(time.processor);
    elapsed_.push_back(time.elapsed);
    driver_.push_back(time.driver);
  }

  FramesOf of(const std::string& form, const std::string& what) const {
    return {form, what, processor_.size(), spread(processor_), spread(elapsed_), spread(driver_).median};
  }

 private:
  std::vector<double> processor_;
  std::vector<double> elapsed_;
  std::vector<double> driver_;
};

std::string sequence(Index tokens, Index channels) {
  return preset_id(presets().front(), {.tokens = tokens, .dk = channels, .dv = channels});
}

void require_no_problem(const Session& session) {
  if (!session.message().empty()) throw InputError(session.message());
}

/// Opens a long sequence from the picture that greets a newcomer.
FramesOf open_sequence(Person& person, const std::string& id) {
  Session& session = person.application().session;
  person.application().open_first_capture();
  person.settle();
  Durations durations;
  const auto is_open = [&] { return session.data().id == id || !session.message().empty(); };
  durations.add(person.frame([&] { session.open_named(id); }));
  for (int i = 0; !is_open(); ++i) {
    if (i == most_frames) throw Error(late);
    person.rest();
    durations.add(person.frame([] {}));
  }
  require_no_problem(session);
  for (int i = 0; i < settling_frames; ++i) durations.add(person.frame([] {}));
  return durations.of(name(session.choice().form), "opening the sequence");
}

void choose_form(Person& person, Form form) {
  Choice choice = person.application().session.choice();
  choice.form = form;
  person.application().session.choose(std::move(choice));
  person.settle();
}

void drag_decay(Session& session, int number) {
  Choice choice = session.choice();
  set_slider(choice.edits, "scale_decay", 1 + 0.001 * (number + 1));
  session.choose(std::move(choice), "decay");
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

std::vector<FramesOf> frames_of_form(Person& person, Form form, const UiBench& bench) {
  choose_form(person, form);
  Application& application = person.application();
  const Index middle = application.session.data().tokens / 4;
  const std::vector<std::pair<const char*, Action>> actions = {
      {"idle", [](Application&, int) {}},
      {"stepping by operation", step_by(Session::Grain::operation)},
      {"stepping by token", step_by(Session::Grain::token)},
      {"stepping by chunk", step_by(Session::Grain::chunk)},
      {"playing",
       [](Application& a, int number) {
         if (number == 0) a.playing = true;
       }},
      {"scrubbing", scrub(bench.frames)},
      {"dragging a slider", [](Application& a, int number) { drag_decay(a.session, number); }},
  };
  std::vector<FramesOf> found;
  for (const auto& [what, action] : actions) {
    application.session.go_to_token(middle);
    application.steps_per_second = fastest;
    person.settle();
    Durations durations;
    for (int i = 0; i < bench.frames; ++i) {
      durations.add(person.frame([&] { action(application, i); }));
      person.rest();
    }
    application.playing = false;
    // The frame that takes over what a change has made counts too.
    const Session& session = application.session;
    const auto is_there = [&] { return session.computed()->choice.edits == session.choice().edits; };
    for (int i = 0; !is_there(); ++i) {
      if (i == most_frames) throw Error(late);
      durations.add(person.frame([] {}));
      person.rest();
    }
    found.push_back(durations.of(name(form), what));
  }
  return found;
}

/// The processor's time that this process has used, in milliseconds.
double process_milliseconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) * 1e-6;
}

/// How long a change takes until its result is on the screen; what OpenGL needs is left out.
void drag_to_picture(Person& person, int changes, UiTimes& times) {
  Session& session = person.application().session;
  std::vector<double> durations;
  std::vector<double> processor;
  for (int i = 0; i < changes; ++i) {
    const std::uint64_t before = session.computed()->version;
    const auto start = Clock::now();
    const double used = process_milliseconds();
    double driver = person.frame([&] { drag_decay(session, i); }, false).driver;
    for (int frame = 0; session.computed()->version == before; ++frame) {
      if (frame == most_frames) throw Error(late);
      person.rest();
      driver += person.frame([] {}, false).driver;
    }
    const std::chrono::duration<double, std::milli> taken = Clock::now() - start;
    durations.push_back(taken.count() - driver);
    processor.push_back(process_milliseconds() - used);
    session.wait();
  }
  times.changes = durations.size();
  times.slider = spread(std::move(durations));
  times.slider_processor = spread(std::move(processor));
}

/// From entering Attend, with the sequence open, to its pictures; nothing where there is no room for them.
std::optional<PictureTimes> weights_to_picture(Person& person, const UiBench& bench) {
  open_sequence(person, sequence(bench.tokens, bench.channels));
  person.settle();
  const auto squares = [](auto is_good) {
    return !attend_map().squares.empty() && std::ranges::all_of(attend_map().squares, is_good);
  };
  PictureTimes times;
  double driver = 0;
  const auto start = Clock::now();
  const auto now = [&] {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count() - driver;
  };
  person.application().enter("attend");
  for (int frame = 0; times.fine == 0; ++frame) {
    if (frame == most_frames) throw Error(late);
    driver += person.frame([] {}, false).driver;
    if (times.coarse == 0 && squares(&AttendMap::Square::is_covered)) times.coarse = now();
    if (squares([](const AttendMap::Square& square) { return square.parts == square.wanted; }))
      times.fine = now();
    if (frame == settling_frames && attend_map().squares.empty()) return std::nullopt;
    person.rest();
  }
  return times;
}

}  // namespace

Spread spread(std::vector<double> durations) {
  if (durations.empty()) return {};
  std::ranges::sort(durations);
  const auto at = [&](double share) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(durations.size())));
    return durations[std::max<std::size_t>(rank, 1) - 1];
  };
  return {.median = at(0.5), .high = at(0.99), .worst = durations.back()};
}

UiTimes measure_ui(const UiBench& bench) {
  UiTimes times;
  {
    Person person(bench);
    person.application().enter(bench.workspace);
    times.opening = open_sequence(person, sequence(bench.tokens, bench.channels));
    for (const Form form : {Form::recurrent, Form::chunkwise}) {
      for (FramesOf& frames : frames_of_form(person, form, bench)) times.frames.push_back(std::move(frames));
    }
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
  drag_to_picture(person, std::max(bench.frames / 4, 1), times);
  return times;
}

}  // namespace palimpsest
