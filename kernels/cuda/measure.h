#pragma once

#include <chrono>
#include <functional>

#include "core/rules/run_times.h"
#include "kernels/cuda/check.h"

namespace palimpsest::cuda {

/// Measures how long the device computes, by two events in its queue. Throws Error with CUDA's words.
class Stopwatch {
 public:
  Stopwatch() {
    for (cudaEvent_t& mark : marks_) CHECK_CUDA(cudaEventCreate(&mark));
  }
  ~Stopwatch() {
    for (const cudaEvent_t mark : marks_) cudaEventDestroy(mark);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// The seconds that the device takes for the work that ask() launches; waits until it is done.
  template <class Ask>
  double time(const Ask& ask) {
    CHECK_CUDA(cudaEventRecord(marks_[0], nullptr));
    ask();
    CHECK_CUDA(cudaEventRecord(marks_[1], nullptr));
    CHECK_CUDA(cudaEventSynchronize(marks_[1]));
    float milliseconds = 0;
    CHECK_CUDA(cudaEventElapsedTime(&milliseconds, marks_[0], marks_[1]));
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t marks_[2] = {};
};

/// Times all work that this thread launches on the device while the clock exists.
///
/// A run moves data (uploads, downloads, fresh memory) and computes (HeadsOnDevice::compute()). Moving is
/// timed by the processor's clock, with the device idle before and after. Computing is repeated as wanted:
/// each time the states are restored and the L2 cache is flushed, then two events on the device time it,
/// right before the first kernel and right after the last. They are queued behind the flush, during which the
/// first launches are made: a launch costs only what the device waits for it. A run may compute in several
/// places; the first decides how often, and a time is the sum over all of them.
class RunClock {
 public:
  /// The L2 cache is flushed by a write of `bytes` bytes to `flushed`.
  RunClock(void* flushed, std::size_t bytes, const Repeats& repeats);
  ~RunClock() { present_ = nullptr; }
  RunClock(const RunClock&) = delete;
  RunClock& operator=(const RunClock&) = delete;

  /// The clock of this thread; null: nobody measures.
  static RunClock* present() { return present_; }

  /// Calls move(), which moves data; the clock of this thread, if there is one, counts it as `part`.
  template <class Move>
  static void moving(double RunTimes::*part, Move move) {
    RunClock* const clock = present_;
    if (!clock || clock->is_aside_) return move();
    const Time start = clock->when_idle();
    move();
    clock->times_.*part += seconds_between(start, clock->when_idle());
  }

  /// Calls prepare(), which counts nowhere.
  template <class Prepare>
  void aside(Prepare prepare) {
    const Time start = when_idle();
    is_aside_ = true;
    prepare();
    is_aside_ = false;
    aside_ += seconds_between(start, when_idle());
  }

  /// Calls compute() as often as wanted, with restore() before each time except the first. If it is repeated,
  /// those of the first moments do not count, unless one alone takes a second.
  void repeat(const std::function<void()>& restore, const std::function<void()>& compute);

  /// What the run took up to now.
  RunTimes times();

 private:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  static double seconds_between(Time from, Time to) {
    return std::chrono::duration<double>(to - from).count();
  }

  static Time when_idle() {
    CHECK_CUDA(cudaStreamSynchronize(nullptr));
    return Clock::now();
  }

  double time(const std::function<void()>& compute);

  inline static thread_local RunClock* present_ = nullptr;

  RunTimes times_ = {};
  void* flushed_;
  std::size_t flushed_bytes_;
  Repeats repeats_;
  Stopwatch stopwatch_;
  bool is_aside_ = false;
  double aside_ = 0;  // seconds that are in no time but the one spent
  Time start_ = {};   // of the run
};

/// The times of `run` on the first device; computing is repeated as `repeats` says. Throws what it throws,
/// and Error with CUDA's words.
RunTimes measure(const Repeats& repeats, const std::function<void()>& run);

/// What these times include.
std::string what_is_timed();

/// The limits of the first device, the best of a few runs: copies in its memory, and multiply-adds in
/// registers. Throws Error with CUDA's words.
Roof roof(Precision precision);

}  // namespace palimpsest::cuda
