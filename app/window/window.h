#pragma once

#include <memory>
#include <string>
#include <utility>

#include "app/gl/canvas.h"

namespace palimpsest {

/// How a window opens.
struct WindowOptions {
  std::string title = "Palimpsest";
  int width = 1600;   // in screen coordinates; less where the monitor has less room
  int height = 1000;  // in screen coordinates; less where the monitor has less room
  float scale = 0;    // size of the user interface; 0 takes the monitor's own scale
  bool vsync = true;  // off for tests, which want every frame at once
  // Called before the next frame with the paths of files dropped on the window; draw_frame() rethrows its
  // exceptions.
  std::function<void(const std::vector<std::filesystem::path>&)> dropped = {};
  std::function<void()> after_frame = {};  // called after every frame has been shown (the test engine's hook)
};

/// A window with Dear ImGui in it. It draws when something happens and otherwise sleeps, without the memory
/// that it does not need.
class Window {
 public:
  /// Opens the window; throws an Error that says what is missing (a display, OpenGL 3.3).
  explicit Window(WindowOptions options = {});
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// Draws frames through `draw` until the window is closed.
  void run(const std::function<void()>& draw);

  /// Handles what has happened and draws one frame at once, without sleeping. A frame that is not shown
  /// (`seen`) is only laid out: the window keeps the pixels that it has.
  void draw_frame(const std::function<void()>& draw, bool seen = true);

  /// Waits until OpenGL has drawn what was asked for.
  void finish_drawing();

  /// Asks for another frame; also wakes a sleeping window, and may be called from any thread. A callback
  /// that animates calls it in every frame.
  void request_redraw();

  /// Closes the window after the present frame.
  void close();

  /// Whether the user asked to close the window.
  bool closing() const;

  /// How much larger than in the design everything is drawn (1 on an ordinary monitor).
  float scale() const;

  /// Its width and height in screen coordinates.
  std::pair<int, int> size() const;

  /// The last frame.
  Image read_pixels() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace palimpsest
