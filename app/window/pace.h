#pragma once

namespace palimpsest {

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

}  // namespace palimpsest
