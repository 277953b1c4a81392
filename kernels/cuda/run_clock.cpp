#include "kernels/cuda/run_clock.h"

namespace palimpsest::cuda {

namespace {

/// Seconds of computing before anything counts: a device that had to wait for the processor runs slowly at
/// first.
constexpr double warm_up = 0.05;

/// Seconds beside which a slow beginning is nothing: what takes so long counts the first time.
constexpr double long_enough = 1;

}  // namespace

double RunClock::seconds_between(Time from, Time to) {
  return std::chrono::duration<double>(to - from).count();
}

RunClock::Time RunClock::when_idle() {
  CHECK_CUDA(cudaStreamSynchronize(nullptr));
  return Clock::now();
}

RunClock::RunClock(void* flushed, std::size_t bytes, const Repeats& repeats)
    : flushed_(flushed), flushed_bytes_(bytes), repeats_(repeats) {
  start_ = when_idle();
  present_ = this;
}

double RunClock::time(const std::function<void()>& compute) {
  CHECK_CUDA(cudaMemsetAsync(flushed_, 0, flushed_bytes_, nullptr));
  return stopwatch_.time(compute);
}

void RunClock::repeat(const std::function<void()>& restore, const std::function<void()>& compute) {
  const Time start = when_idle();
  const bool is_first = times_.compute.empty();
  const auto wanted = [&](std::size_t done) {
    if (!is_first) return done < times_.compute.size();
    const auto count = static_cast<Index>(done);
    return count < repeats_.least ||
           (count < repeats_.most && seconds_between(start, Clock::now()) < repeats_.seconds);
  };
  const auto add = [&](std::size_t done, double seconds) {
    if (is_first)
      times_.compute.push_back(seconds);
    else
      times_.compute[done] += seconds;
  };
  std::size_t done = 0;
  double once = time(compute);
  if (repeats_.most == 1 || once >= long_enough) {
    add(done++, once);
  } else {
    while (seconds_between(start, when_idle()) < warm_up) {
      restore();
      compute();
    }
  }
  for (; wanted(done); ++done) {
    restore();
    once = time(compute);
    add(done, once);
  }
  aside_ += seconds_between(start, when_idle()) - once;
}

RunTimes RunClock::times() {
  if (times_.compute.empty()) times_.compute.push_back(0);  // of no tokens
  times_.spent = seconds_between(start_, when_idle());
  times_.whole = times_.spent - aside_;
  return times_;
}

}  // namespace palimpsest::cuda
