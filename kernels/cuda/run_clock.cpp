#include "kernels/cuda/run_clock.h"

#include <algorithm>
#include <string_view>

namespace palimpsest::cuda {

namespace {

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

RunClock::RunClock(void* flushed, std::size_t bytes) : flushed_(flushed), flushed_bytes_(bytes) {
  CHECK_CUDA(cudaEventCreate(&from_));
  CHECK_CUDA(cudaEventCreate(&to_));
  CHECK_CUDA(cudaStreamSynchronize(nullptr));
  present_ = this;
  call_listener = this;
  start_ = Clock::now();
  begin_stretch();
}

RunClock::~RunClock() {
  present_ = nullptr;
  call_listener = nullptr;
  cudaEventDestroy(from_);
  cudaEventDestroy(to_);
}

void RunClock::called(const char* call) {
  const bool is_launch = std::string_view(call) == "cudaGetLastError()";
  if (!is_launch || !in_stretch_ || is_asked_) return;
  is_asked_ = true;
  asked_ = Clock::now();
}

void RunClock::begin_stretch() {
  if (times_.compute == 0) {
    const Time start = Clock::now();
    CHECK_CUDA(cudaMemsetAsync(flushed_, 0, flushed_bytes_, nullptr));
    CHECK_CUDA(cudaStreamSynchronize(nullptr));
    flushing_ += seconds_between(start, Clock::now());
  }
  CHECK_CUDA(cudaEventRecord(from_, nullptr));
  began_ = Clock::now();
  is_asked_ = false;
  in_stretch_ = true;
}

void RunClock::stop_computing() {
  in_stretch_ = false;
  if (!is_asked_) return;
  CHECK_CUDA(cudaEventRecord(to_, nullptr));
  CHECK_CUDA(cudaEventSynchronize(to_));
  float milliseconds = 0;
  CHECK_CUDA(cudaEventElapsedTime(&milliseconds, from_, to_));
  // The launch itself is in the wait: what takes less than a launch counts as 0.
  times_.compute += std::max(1e-3 * static_cast<double>(milliseconds) - seconds_between(began_, asked_), 0.0);
}

void RunClock::compute_on(double RunTimes::*part, Time start) {
  CHECK_CUDA(cudaStreamSynchronize(nullptr));
  times_.*part += seconds_between(start, Clock::now());
  begin_stretch();
}

RunTimes RunClock::times() {
  if (in_stretch_) stop_computing();
  times_.whole = seconds_between(start_, Clock::now()) - flushing_;
  return times_;
}

}  // namespace palimpsest::cuda
