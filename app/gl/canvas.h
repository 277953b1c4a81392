#pragma once

#include <functional>

#include "app/gl/image.h"

struct ImGuiContext;

namespace palimpsest {

/// ImGui::NewFrame() that keeps what was typed between two frames in its order: a key counts with the
/// modifiers that were held when it was pressed, however early they were let go. What follows waits for the
/// next frame.
void new_frame();

/// Dear ImGui drawn by OpenGL 3.3 into a picture of its own, on whatever context is current. The window and
/// the off-screen renderer both draw through it, so that what they show is the same and can be read back at
/// any time. Needs the same OpenGL context to be current in every call, the destructor included.
class Canvas {
 public:
  /// Creates the Dear ImGui context and its renderer; throws an Error when OpenGL is older than 3.3.
  Canvas();
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  /// Draws one frame of `width` by `height` pixels. The caller has filled in Dear ImGui's display size and
  /// time. A frame that nobody will see only lays out: with many pixels, filling them takes most of the time.
  void draw_frame(int width, int height, const std::function<void()>& draw, bool seen = true);

  /// The two halves of a frame: what the program does, up to the list of what is to be drawn, and what OpenGL
  /// makes of it.
  void build(int width, int height, const std::function<void()>& draw);
  void fill(bool seen);

  /// Copies the last frame to the framebuffer 0 of the current context.
  void show() const;

  /// The last frame.
  Image read_pixels() const;

  /// Makes this canvas's Dear ImGui context the current one.
  void make_current() const;

 private:
  void resize(int width, int height);

  ImGuiContext* context_ = nullptr;
  unsigned framebuffer_ = 0;
  unsigned texture_ = 0;
  int width_ = 0;
  int height_ = 0;
};

}  // namespace palimpsest
