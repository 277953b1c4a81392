#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

namespace palimpsest::testing {

/// For how many seconds this thread has been ready to run while others had the processor; 0 where the system
/// does not tell.
inline double seconds_in_queue() {
  std::ifstream statistics("/proc/thread-self/schedstat");
  double running = 0;
  double ready = 0;
  statistics >> running >> ready;
  return statistics ? ready * 1e-9 : 0;
}

/// Measures the frames of the thread that calls it: from the end of one to the end of the next one's lists,
/// with what was done in between. OpenGL, which a graphics card would do, is left out. What counts is the
/// time by the clock less the time in which the thread was ready and others had the processor: on a busy
/// machine the clock alone would blame a frame for its neighbours, and the processor's time alone would not
/// see a frame that waits for a lock or another thread.
class FrameWatch {
 public:
  struct Frame {
    double seconds = 0;
    double by_clock = 0;
    std::string act;  // that it came from
  };

  /// Begins a frame: the one before is drawn, or what went on since then was not a person's doing.
  void begin() {
    started_ = Clock::now();
    queued_ = seconds_in_queue();
  }

  /// Ends a frame's lists.
  void built(const std::string& act) {
    const double by_clock = std::chrono::duration<double>(Clock::now() - started_).count();
    const Frame frame{std::max(by_clock - (seconds_in_queue() - queued_), 0.0), by_clock, act};
    ++count_;
    const auto place =
        std::ranges::lower_bound(longest_, frame.seconds, std::ranges::greater(), &Frame::seconds);
    longest_.insert(place, frame);
    if (longest_.size() > most_named) longest_.pop_back();
  }

  /// The longest frames, the longest first.
  const std::vector<Frame>& longest() const { return longest_; }

  std::size_t count() const { return count_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t most_named = 5;

  Clock::time_point started_ = Clock::now();
  double queued_ = seconds_in_queue();
  std::vector<Frame> longest_;
  std::size_t count_ = 0;
};

}  // namespace palimpsest::testing
