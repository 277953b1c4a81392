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

/// Lets the allocator keep no more than 4 MB free at the end of each thread's heap, from now on. By itself
/// glibc keeps twice the largest block that was freed by then, up to 64 MB a thread, where
/// give_back_free_memory() cannot reach it. Does nothing where the C library has no way to.
void keep_little_free_memory();

/// Gives the system back what the allocator keeps for later: tens of MB after a minute of dragging. Takes
/// about a millisecond; does nothing where the C library has no way to.
void give_back_free_memory();

}  // namespace palimpsest
