#pragma once

#include <cuda_runtime.h>
#include <chrono>
#include <functional>
#include <vector>

#include "core/rules/run_times.h"
#include "kernels/cuda/check.h"

namespace palimpsest::cuda {

/// A mark in the queue of the device. Throws Error with CUDA's words.
class Event {
 public:
  Event() { CHECK_CUDA(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Stands in the queue behind what was asked for up to now.
  void record() { CHECK_CUDA(cudaEventRecord(event_, nullptr)); }

  /// Waits until the device has come here; the seconds since it was at `earlier`.
  double seconds_since(const Event& earlier) const {
    CHECK_CUDA(cudaEventSynchronize(event_));
    float milliseconds = 0;
    CHECK_CUDA(cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// How long the device computes.
class Stopwatch {
 public:
  /// The seconds that the device takes for what ask() asks of it.
  template <class Ask>
  double time(const Ask& ask) {
    from_.record();
    ask();
    to_.record();
    return to_.seconds_since(from_);
  }

 private:
  Event from_, to_;
};

/// Takes the times of all that this thread asks of the device while the clock lives.
///
/// A run moves data (uploads, downloads, fresh memory) and computes (kernels/cuda/computing.h). Moving is
/// timed by the processor's clock, with the device idle before and after. What is computed is computed as
/// often as wanted: each time what it changes is put back and the L2 cache is flushed, then two events on the
/// device, right before the first kernel and right after the last, mark it. They stand in the same queue
/// behind the flush, during which the first launches are made: a launch costs what the device waits for it.
/// A run may compute in several places; the first decides how often, and a time is the sum over all of them.
class RunClock {
 public:
  /// The L2 cache is flushed by a write to `flushed`, so many `bytes`.
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

  /// Calls compute() as often as wanted, restore() before each time but the first; wanted more than once,
  /// those of the first instants do not count, unless one alone takes a second.
  void repeat(const std::function<void()>& restore, const std::function<void()>& compute);

  /// What the run took up to now.
  RunTimes times();

 private:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  static double seconds_between(Time from, Time to);
  static Time when_idle();
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

}  // namespace palimpsest::cuda
