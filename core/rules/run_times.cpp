#include "core/rules/run_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <vector>

#include "core/base/parallel_for.h"

namespace palimpsest {

namespace {

constexpr int tries = 5;

/// The shortest time in seconds in which all threads do `work(thread)`; a first try is not counted.
double shortest(const std::function<void(Index)>& work) {
  using Clock = std::chrono::steady_clock;
  double best = 0;
  for (int i = 0; i <= tries; ++i) {
    const Clock::time_point start = Clock::now();
    parallel_for(processor_threads(), processor_threads(), work);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (i == 1 || (i > 1 && seconds < best)) best = seconds;
  }
  return best;
}

constexpr std::size_t copied_bytes = std::size_t{256} << 20;  // of all threads

double copy_rate() {
  const std::size_t share = copied_bytes / processor_threads();
  std::vector<std::vector<char>> from(processor_threads(), std::vector<char>(share, 1));
  std::vector<std::vector<char>> to(processor_threads(), std::vector<char>(share));
  const double seconds = shortest([&](Index thread) {
    const auto i = static_cast<std::size_t>(thread);
    std::memcpy(to[i].data(), from[i].data(), share);
  });
  return 2 * static_cast<double>(share) * processor_threads() / seconds;
}

constexpr Index size = 512;
constexpr int products = 4;

template <class Scalar>
double product_rate() {
  struct Matrices {
    Matrix<Scalar> A = Matrix<Scalar>::Constant(size, size, Scalar{0.5});
    Matrix<Scalar> B = Matrix<Scalar>::Constant(size, size, Scalar{0.25});
    Matrix<Scalar> C = Matrix<Scalar>::Zero(size, size);
  };
  std::vector<Matrices> of(processor_threads());
  const double seconds = shortest([&](Index thread) {
    auto& [A, B, C] = of[static_cast<std::size_t>(thread)];
    for (int i = 0; i < products; ++i) C.noalias() = A * B;
  });
  return 2.0 * size * size * size * products * processor_threads() / seconds;
}

}  // namespace

Roof processor_roof(Precision precision) {
  const char* const threads = processor_threads() == 1 ? "thread" : "threads";
  return {.bytes_per_second = copy_rate(),
          .flops_per_second = precision == Precision::f64 ? product_rate<double>() : product_rate<float>(),
          .copy = fmt::format("memcpy of {} MiB in {} {}, read and written", copied_bytes >> 20,
                              processor_threads(), threads),
          .product = fmt::format("Eigen's product of two [{0}, {0}] matrices in {1} in each of {2} {3}", size,
                                 name(precision), processor_threads(), threads)};
}

}  // namespace palimpsest
