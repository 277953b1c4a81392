#include "app/window/window.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>

#include "app/gl/opengl.h"
#include "app/window/pace.h"
#include "core/base/error.h"
#include "core/base/free_memory.h"

namespace palimpsest {
namespace {

// How long a quiet window sleeps at most; a blinking text cursor sets the pace.
constexpr double longest_sleep_seconds = 0.25;

std::string last_glfw_error() {
  const char* description = nullptr;
  glfwGetError(&description);
  return description == nullptr ? "no reason was given" : description;
}

// GLFW stays initialised while one of these lives.
struct Glfw {
  Glfw() {
    if (glfwInit() == GLFW_FALSE)
      throw Error(
          fmt::format("no window can be opened: {}. Is DISPLAY or WAYLAND_DISPLAY set? Without a display, "
                      "`palimpsest render` draws pictures.",
                      last_glfw_error()));
  }
  ~Glfw() { glfwTerminate(); }
  Glfw(const Glfw&) = delete;
  Glfw& operator=(const Glfw&) = delete;
};

// What a window may fill of the monitor: its width and height without bars and docks, in screen coordinates.
std::pair<int, int> room_on_monitor() {
  int width = 0;
  int height = 0;
  if (GLFWmonitor* monitor = glfwGetPrimaryMonitor())
    glfwGetMonitorWorkarea(monitor, nullptr, nullptr, &width, &height);
  constexpr int unknown = std::numeric_limits<int>::max();
  return {width > 0 ? width : unknown, height > 0 ? height : unknown};
}

GLFWwindow* create_window(const WindowOptions& options) {
  glfwDefaultWindowHints();
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  glfwWindowHint(GLFW_SAMPLES, 0);
  const auto [room_x, room_y] = room_on_monitor();
  const bool fills = options.width >= room_x || options.height >= room_y;
  glfwWindowHint(GLFW_MAXIMIZED, fills ? GLFW_TRUE : GLFW_FALSE);
  GLFWwindow* window = glfwCreateWindow(std::min(options.width, room_x), std::min(options.height, room_y),
                                        options.title.c_str(), nullptr, nullptr);
  if (!window) throw Error(fmt::format("no window with OpenGL 3.3 can be opened: {}", last_glfw_error()));
  constexpr int least_width = 640;  // of a story
  constexpr int least_height = 440;
  glfwSetWindowSizeLimits(window, std::min(least_width, options.width),
                          std::min(least_height, options.height), GLFW_DONT_CARE, GLFW_DONT_CARE);
  return window;
}

}  // namespace

struct Window::State {
  explicit State(WindowOptions wanted)
      : options(std::move(wanted)), window(create_window(options), glfwDestroyWindow) {
    glfwMakeContextCurrent(window.get());
    glfwSwapInterval(options.vsync ? 1 : 0);
    canvas = std::make_unique<Canvas>();
    glfwSetWindowUserPointer(window.get(), this);
    glfwSetWindowRefreshCallback(window.get(), [](GLFWwindow* damaged) {
      static_cast<State*>(glfwGetWindowUserPointer(damaged))->redraw = true;
    });
    glfwSetDropCallback(window.get(), [](GLFWwindow* target, int count, const char** paths) {
      State& state = *static_cast<State*>(glfwGetWindowUserPointer(target));
      state.redraw = true;
      try {
        state.lying.assign(paths, paths + count);
      } catch (...) {  // nothing may be thrown through GLFW
        state.problem = std::current_exception();
      }
    });
    ImGui_ImplGlfw_InitForOpenGL(window.get(), true);
  }

  ~State() {
    glfwMakeContextCurrent(window.get());
    canvas->make_current();
    ImGui_ImplGlfw_Shutdown();
  }

  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const WindowOptions options;
  Glfw glfw;  // before what follows, so that it ends after that
  std::unique_ptr<GLFWwindow, decltype(&glfwDestroyWindow)> window;
  std::unique_ptr<Canvas> canvas;
  std::vector<std::filesystem::path> lying;  // what was dropped and is not handed over yet
  std::exception_ptr problem;                // or why it cannot be
  std::atomic<bool> redraw = true;
  Pace pace;
};

Window::Window(WindowOptions options) : state_(std::make_unique<State>(std::move(options))) {
  keep_little_free_memory();
}

Window::~Window() = default;

void Window::run(const std::function<void()>& draw) {
  Pace& pace = state_->pace;
  pace.change();
  bool is_quiet = false;
  while (!closing()) {
    state_->canvas->make_current();
    if (pace.wants_frame()) {
      draw_frame(draw);
      pace.drawn();
      is_quiet = false;
    } else {
      glfwWaitEventsTimeout(longest_sleep_seconds);
      if (ImGui::GetIO().WantTextInput) pace.once();  // its cursor blinks
    }
    pace.listen();
    if (state_->redraw.exchange(false)) pace.change();
    if (!pace.wants_frame() && !std::exchange(is_quiet, true)) give_back_free_memory();
    while (glfwGetWindowAttrib(state_->window.get(), GLFW_ICONIFIED) == GLFW_TRUE && !closing()) {
      glfwWaitEvents();  // nothing to see
    }
  }
}

void Window::draw_frame(const std::function<void()>& draw, bool seen) {
  glfwPollEvents();
  if (state_->problem) std::rethrow_exception(std::exchange(state_->problem, nullptr));
  if (!state_->lying.empty() && state_->options.dropped)
    state_->options.dropped(std::exchange(state_->lying, {}));
  glfwMakeContextCurrent(state_->window.get());
  state_->canvas->make_current();
  state_->pace.listen();
  int width = 0;
  int height = 0;
  glfwGetFramebufferSize(state_->window.get(), &width, &height);
  ImGui_ImplGlfw_NewFrame();
  state_->canvas->build(width, height, draw);
  state_->canvas->fill(seen);
  if (seen) {
    state_->canvas->show();
    glfwSwapBuffers(state_->window.get());
  }
  if (state_->options.after_frame) state_->options.after_frame();
}

void Window::finish_drawing() { glFinish(); }

void Window::request_redraw() {
  state_->redraw = true;
  glfwPostEmptyEvent();
}

void Window::close() { glfwSetWindowShouldClose(state_->window.get(), GLFW_TRUE); }

bool Window::closing() const { return glfwWindowShouldClose(state_->window.get()) == GLFW_TRUE; }

float Window::scale() const {
  if (state_->options.scale > 0) return state_->options.scale;
  float scale = 1;
  glfwGetWindowContentScale(state_->window.get(), &scale, nullptr);
  // Where a screen coordinate is more than a pixel (Wayland), Dear ImGui already scales by their ratio.
  int width = 0;
  int width_in_pixels = 0;
  glfwGetWindowSize(state_->window.get(), &width, nullptr);
  glfwGetFramebufferSize(state_->window.get(), &width_in_pixels, nullptr);
  if (width > 0 && width_in_pixels > 0)
    scale *= static_cast<float>(width) / static_cast<float>(width_in_pixels);
  return scale > 0 ? scale : 1;
}

std::pair<int, int> Window::size() const {
  int width = 0;
  int height = 0;
  glfwGetWindowSize(state_->window.get(), &width, &height);
  return {width, height};
}

Image Window::read_pixels() const { return state_->canvas->read_pixels(); }

}  // namespace palimpsest
