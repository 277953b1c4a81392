// `tests_gui --soak MINUTES [SEED]` plays with the real window and watches the memory of the process and how
// long its frames take.

#include <fmt/format.h>
#include <imgui_impl_glfw.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "app/window/window.h"
#include "tests/frame_watch.h"
#include "tests/gui/tests.h"
#include "tests/soak.h"

namespace palimpsest {
namespace {

using testing::FrameWatch;
using testing::Holdings;
using testing::Player;

constexpr double most_growth = 20;       // MB, of what is resident and of the heap
constexpr int most_more_mappings = 100;  // the drivers of OpenGL make some of their own
constexpr int acts_in_a_size = 100;
constexpr double looks = 20;
constexpr double longest_frame = 1;         // seconds
constexpr std::size_t stalled_frame = 100;  // the frame that waits when a stall is asked for

double minutes_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::ratio<60>>(std::chrono::steady_clock::now() - begin).count();
}

void change_size(int turn) {
  constexpr int sizes[][2] = {{1280, 800}, {1600, 1000}, {1920, 1080}};
  const auto& size = sizes[turn % 3];
  glfwSetWindowSize(glfwGetCurrentContext(), size[0], size[1]);
}

void print(double minutes, int acts, const Holdings& now) {
  fmt::print("{:6.2f} min, {:6} acts: {}\n", minutes, acts, testing::words(now));
  std::fflush(stdout);
}

bool has_grown(const Holdings& first, const Holdings& last) {
  return last.resident > first.resident + most_growth || last.heap > first.heap + most_growth ||
         last.mappings > first.mappings + most_more_mappings;
}

/// Prints the longest frames; whether one of them was too long.
bool had_long_frame(const FrameWatch& watch) {
  const bool failed = !watch.longest().empty() && watch.longest().front().seconds > longest_frame;
  fmt::print("{}: of {} frames the longest, without OpenGL and without waiting for the processor:\n",
             failed ? "FAILED, a frame took more than a second" : "no frame took a second", watch.count());
  for (const FrameWatch::Frame& frame : watch.longest())
    fmt::print("  {:7.1f} ms ({:7.1f} by the clock) in {}\n", frame.seconds * 1e3, frame.by_clock * 1e3,
               frame.act);
  return failed;
}

constexpr unsigned endless_frame = 60;  // seconds: a frame that takes so long never ends

}  // namespace

bool soak(double minutes, unsigned seed, bool stalls) {
  Window window({.title = "Palimpsest soak test", .scale = 1, .vsync = false});
  // Otherwise the backend tells Dear ImGui in every frame where the real pointer is.
  ImGui_ImplGlfw_CursorEnterCallback(glfwGetCurrentContext(), GLFW_TRUE);
  Application application;
  open_overwriting(application.session);
  FrameWatch watch;
  int frames = 0;
  // While it plays: what it does to come to rest may take as long as it likes.
  const Player* playing = nullptr;
  const auto draw = [&] {
    alarm(playing ? endless_frame : 0);  // ends the process
    application.draw(1);
    alarm(0);
    if (!playing) return;
    if (stalls && watch.count() == stalled_frame)
      std::this_thread::sleep_for(std::chrono::duration<double>(1.1 * longest_frame));
    watch.built(fmt::format("{}, {}, {}, {}", playing->doing(), application.workspace().id,
                            application.session.choice().variant, name(application.session.choice().form)));
  };
  Player player(
      application,
      [&] {
        window.draw_frame(draw, ++frames % frames_to_seen_one == 0);
        watch.begin();
      },
      seed);

  std::optional<Holdings> first;  // after a tenth
  Holdings last;
  const auto begin = std::chrono::steady_clock::now();
  for (int acts = 0; minutes_since(begin) < minutes;) {
    const double look = std::min(minutes_since(begin) + minutes / looks, minutes);
    while (minutes_since(begin) < look) {
      if (acts % acts_in_a_size == 0) change_size(acts / acts_in_a_size);
      playing = &player;
      watch.begin();
      player.act();
      playing = nullptr;
      ++acts;
      if (application.undrawn().empty()) continue;
      fmt::print("FAILED after {} acts: {}\n", acts, application.undrawn());
      return false;
    }
    change_size(1);
    player.rest();
    last = testing::holdings();
    print(minutes_since(begin), acts, last);
    if (!first && minutes_since(begin) >= minutes / 10) first = last;
  }
  const bool failed = has_grown(*first, last);
  fmt::print("{} after the first tenth: resident {:+.1f} MB, heap {:+.1f} MB, {:+} mappings\n",
             failed ? "FAILED" : "flat", last.resident - first->resident, last.heap - first->heap,
             last.mappings - first->mappings);
  return !had_long_frame(watch) && !failed;
}

}  // namespace palimpsest
