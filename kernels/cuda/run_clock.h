#pragma once

#include <cuda_runtime.h>

#include <chrono>

#include "core/rules/run_times.h"
#include "kernels/cuda/check.h"

namespace palimpsest::cuda {

/// Takes the times of all that this thread asks of the device while the clock lives.
///
/// A run moves data (uploads, downloads, fresh memory) and computes in the stretches between. Moving is timed
/// by the processor's clock, with the device idle before and after. In a stretch the device first waits while
/// the processor packs numbers, until a kernel is launched; then kernels run. Two events on the device mark
/// the stretch; its computing is the time between them less that wait, right to a few microseconds. No kernel
/// has to report: after every launch CHECK_CUDA asks for the last error.
class RunClock : public CallListener {
 public:
  /// Before the first kernel the L2 cache is flushed by a write to `flushed`, so many `bytes`.
  RunClock(void* flushed, std::size_t bytes);
  ~RunClock() override;
  RunClock(const RunClock&) = delete;
  RunClock& operator=(const RunClock&) = delete;

  /// Calls move(), which moves data; the clock of this thread, if there is one, counts it as `part`.
  template <class Move>
  static void moving(double RunTimes::*part, Move move) {
    RunClock* const clock = present_;
    if (!clock) return move();
    clock->stop_computing();
    const Time start = Clock::now();
    move();
    clock->compute_on(part, start);
  }

  void called(const char* call) override;

  /// What the run took up to now.
  RunTimes times();

 private:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  void stop_computing();
  void compute_on(double RunTimes::*part, Time start);
  void begin_stretch();

  inline static thread_local RunClock* present_ = nullptr;

  RunTimes times_ = {};
  void* flushed_;
  std::size_t flushed_bytes_;
  double flushing_ = 0;  // seconds
  cudaEvent_t from_ = nullptr;
  cudaEvent_t to_ = nullptr;
  bool in_stretch_ = false;
  bool is_asked_ = false;  // for a kernel, in this stretch
  Time start_ = {};        // of the run
  Time began_ = {};        // the stretch
  Time asked_ = {};        // for the first kernel in it
};

}  // namespace palimpsest::cuda
