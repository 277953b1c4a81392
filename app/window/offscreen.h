#pragma once

#include <memory>

#include "app/gl/canvas.h"

namespace palimpsest {

class SurfacelessContext;

/// The milliseconds of one of the system's clocks (a clockid_t).
double clock_milliseconds(int clock);

/// What a frame took, in milliseconds.
struct FrameTime {
  double processor = 0;  // of this thread, for what the program does until Dear ImGui's lists are complete
  double elapsed = 0;    // wall-clock time for the same: more if it waits or shares the machine
  double driver = 0;     // wall-clock time until OpenGL has drawn the lists
};

/// Frames until pictures have faded in and sizes have settled.
inline constexpr int settling_frames = 30;

/// Draws what a window would show, without a window, a display or a graphics card: this is how
/// `palimpsest render` makes pictures. Time advances by a sixtieth of a second per frame, so that the same
/// calls give the same picture.
class Offscreen {
 public:
  /// Pixels in each direction. Throws an Error when EGL offers no OpenGL 3.3.
  Offscreen(int width, int height);
  ~Offscreen();
  Offscreen(const Offscreen&) = delete;
  Offscreen& operator=(const Offscreen&) = delete;

  /// From the next frame on, as when a window is pulled larger.
  void resize(int width, int height);

  /// Draws `frames` frames through `draw` and returns the last one. Dear ImGui needs a few frames until
  /// sizes have settled.
  Image render(const std::function<void()>& draw, int frames = 4);

  /// Draws a frame that is not shown: all but its pixels; `seen`: with them.
  void pass(const std::function<void()>& draw, bool seen = false);

  /// Draws a frame and says what it took. `seen`: with its pixels.
  FrameTime time(const std::function<void()>& draw, bool seen = true);

 private:
  void prepare();

  std::unique_ptr<SurfacelessContext> context_;  // first, so that it ends last
  Canvas canvas_;
  int width_;
  int height_;
};

}  // namespace palimpsest
