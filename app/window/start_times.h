#pragma once

namespace palimpsest {

/// A moment of a start, in milliseconds.
struct StartMoment {
  double clock = 0;      // since the process began
  double processor = 0;  // the time that the window's thread has used: no more on a busy machine
};

/// When the steps of a start were done.
struct StartTimes {
  StartMoment begun;     // the program is loaded and runs
  StartMoment prepared;  // what is asked for is computed
  StartMoment opened;    // there is a window with OpenGL
  StartMoment drawn;     // Dear ImGui has the first frame
  StartMoment shown;     // the card has it
};

/// Now. The beginning of this process is known to a hundredth of a second.
StartMoment start_moment();

}  // namespace palimpsest
