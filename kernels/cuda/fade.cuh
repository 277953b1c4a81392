#pragma once

#include <string>
#include <type_traits>

#include "core/base/error.h"

namespace palimpsest {

/// More parts of a state than any variant has.
inline constexpr int largest_part_count = 4;

/// Throws Error where a kernel has no room for so many parts.
inline void require_part_count(long long parts) {
  if (parts <= largest_part_count) return;
  throw Error("a state of " + std::to_string(parts) + " parts; the CUDA kernels hold at most " +
              std::to_string(largest_part_count));
}

/// e^x, and 0 below the smallest normal number, as core/numbers/exponential.h has it.
template <class Scalar>
__device__ Scalar exponential(Scalar x) {
  constexpr Scalar lowest = std::is_same_v<Scalar, double> ? Scalar(-708.39) : Scalar(-87.33);
  return x < lowest ? Scalar(0) : exp(x);
}

/// alpha, from a gate that is alpha itself or its logarithm.
template <class Scalar>
__device__ Scalar decay_of(Scalar gate, bool is_log) {
  return is_log ? exponential(gate) : gate;
}

}  // namespace palimpsest
