#pragma once

namespace palimpsest {

/// When a window that nobody touches draws and when it sleeps: a few frames after everything that happened,
/// and as long as Dear ImGui waits for something that only frames bring about.
class Pace {
 public:
  /// Something happened.
  void change();

  /// A frame is to be drawn now.
  bool wants_frame() const { return frames_ > 0; }

  /// A frame was drawn in the current Dear ImGui context.
  void drawn();

  /// One more frame, for what changes by itself.
  void once() { frames_ = frames_ > 0 ? frames_ : 1; }

 private:
  int frames_ = 0;
};

}  // namespace palimpsest
