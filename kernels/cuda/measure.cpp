#include "kernels/cuda/measure.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/cuda/matrices.h"
#include "kernels/cuda/multiply_adds.h"
#include "kernels/cuda/row_kernels.h"

namespace palimpsest::cuda {

namespace {

/// Seconds of computing before anything counts: an idle device runs slowly at first.
constexpr double warm_up = 0.05;

/// Seconds against which a slow start is negligible: what takes as long counts the first time.
constexpr double long_enough = 1;

constexpr int tries = 10;

/// The shortest time in seconds that the device takes for the work that `ask` launches, without the first
/// run.
template <class Ask>
double shortest(Ask ask) {
  Stopwatch stopwatch;
  stopwatch.time(ask);
  double best = stopwatch.time(ask);
  for (int i = 1; i < tries; ++i) best = std::min(best, stopwatch.time(ask));
  return best;
}

/// Launches as many multiply-adds as possible in a precision, returns the number of operations, and describes
/// them.
struct Multiplying {
  double (*ask)(double* seen);
  std::string how;
};

Multiplying multiplying(Precision precision) {
  if (precision == held_in(precision)) {
    return {precision == Precision::f64 ? multiply_adds<double> : multiply_adds<float>,
            fmt::format("a kernel of multiply-adds in registers in {}, without tensor cores or a library of "
                        "products",
                        name(precision))};
  }
  if (precision == Precision::tf32) {
    return {tf32_multiply_adds,
            "a kernel of mma.sync in registers on tensor cores, tf32 with sums in f32, without a library"};
  }
  const bool is_hopper = has_tensor_cores(Rounding::bf16);
  return {is_hopper ? hopper_multiply_adds : bf16_multiply_adds,
          fmt::format("a kernel of {} on tensor cores, bf16 with sums in f32, without a library",
                      is_hopper ? "wgmma, one factor in registers," : "mma.sync in registers")};
}

}  // namespace

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

RunTimes measure(const Repeats& repeats, const std::function<void()>& run) {
  int cache = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, 0));
  // Enough to drive everything else out of it.
  const std::size_t bytes = std::max<std::size_t>(2 * static_cast<std::size_t>(cache), std::size_t{1} << 20);
  DeviceArray<char> flushed(bytes);
  RunClock clock(flushed.data(), bytes, repeats);
  run();
  return clock.times();
}

std::string what_is_timed() {
  return "computing: the kernels by events on the device right before the first and right after the last, "
         "again and again on the same inputs, resident, from the same states, each time with the L2 cache "
         "flushed; uploads and downloads apart, and memory, which is filled when it is fresh, each of one "
         "whole run; with transfers: all from the arrays in memory to outputs and final states in memory, "
         "packed by the threads of the processor";
}

Roof roof(Precision precision) {
  const std::size_t bytes = std::min(std::size_t{1} << 30, memory_of_device().free / 4);
  double copying = 0;
  {
    DeviceArray<char> from(bytes);
    DeviceArray<char> to(bytes);
    copying = shortest([&] {
      CHECK_CUDA(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, nullptr));
    });
  }
  DeviceArray<double> seen(1);
  double flops = 0;
  const Multiplying products = multiplying(precision);
  const double taken = shortest([&] { flops = products.ask(seen.data()); });
  return {.bytes_per_second = 2 * static_cast<double>(bytes) / copying,
          .flops_per_second = flops / taken,
          .copy = fmt::format("cudaMemcpy of {} MiB within the device, read and written", bytes >> 20),
          .product = products.how};
}

}  // namespace palimpsest::cuda
