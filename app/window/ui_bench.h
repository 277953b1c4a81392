#pragma once

#include <optional>

#include "core/base/matrix.h"

namespace palimpsest {

/// A moment of a start, in milliseconds.
struct StartMoment {
  double clock = 0;      // since the process began
  double processor = 0;  // the time that the window's thread has used: no more on a busy machine
};

/// The current moment. The start of this process is known to a hundredth of a second.
StartMoment start_moment();

/// What is measured, and how often.
struct UiBench {
  int width = 1920;
  int height = 1080;
  Index tokens = 4096;
  Index channels = 128;
  Index dragged_tokens = 256;  // of the sequence whose slider is dragged until its picture is there
  Index dragged_channels = 64;
  Index typed_tokens = 100;  // of the typed text
  int frames = 240;
  double patience = 30;  // most seconds to wait for all results before frames are measured
  std::string workspace = "step";
};

/// Of some durations in milliseconds.
struct Spread {
  double median = 0;
  double high = 0;  // the 99th percentile
  double worst = 0;
};

/// The frames while something goes on.
struct FramesOf {
  std::string form;
  std::string what;
  std::size_t frames = 0;
  Spread processor;   // the time of the window's thread, without OpenGL
  Spread elapsed;     // the same by the clock
  double driver = 0;  // median by the clock: OpenGL
  // Whether all that is looked at was there when they began; nothing where it could not be.
  std::optional<bool> complete = {};
};

/// Until Attend shows the weights of a whole sequence, in milliseconds by the clock without OpenGL.
struct PictureTimes {
  double coarse = 0;  // both squares, in few rows
  double fine = 0;    // every row of them
};

/// From a change to the end of the frame that shows its result.
struct ChangeTimes {
  Spread clock;
  Spread processor;  // of all threads
};

/// What `bench ui` finds.
struct UiTimes {
  std::vector<FramesOf> frames;
  FramesOf opening;  // of the long sequence: until the frame that shows it
  ChangeTimes slider;
  ChangeTimes typing;                   // from a letter to the answer of a small model
  int changes = 0;                      // of each
  std::optional<PictureTimes> weights;  // of the workspace Attend
};

/// The spread of `durations`; zeros of none.
Spread spread(const std::vector<double>& durations);

/// Draws the program off screen, as a window would, and measures its frames. Throws an Error when EGL offers
/// no OpenGL, InputError when there is no such sequence.
UiTimes measure_ui(const UiBench& bench);

}  // namespace palimpsest
