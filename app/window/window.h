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

/// When a window draws and when it sleeps: it draws a few frames after every event, and as long as Dear ImGui
/// waits for something that needs frames.
class Pace {
 public:
  /// Something happened.
  void change();

  /// Counts pending input of the current Dear ImGui context as an event. To be called before each frame, as
  /// the effect of input may be visible only in later frames.
  void listen();

  /// A frame is to be drawn now.
  bool wants_frame() const { return frames_ > 0; }

  /// A frame was drawn in the current Dear ImGui context.
  void drawn();

  /// One more frame, for what changes by itself.
  void once() { frames_ = frames_ > 0 ? frames_ : 1; }

 private:
  int frames_ = 0;
};

/// Lets the allocator keep no more than 4 MB free at the end of each thread's heap, from now on. By itself
/// glibc keeps twice the largest block that was freed by then, up to 64 MB a thread, where
/// give_back_free_memory() cannot reach it. Does nothing where the C library has no way to.
void keep_little_free_memory();

/// Gives the system back what the allocator keeps for later: tens of MB after a minute of dragging. Takes
/// about a millisecond; does nothing where the C library has no way to.
void give_back_free_memory();

}  // namespace palimpsest
