#pragma once

#include <cuda_runtime.h>

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

}  // namespace palimpsest::cuda
