#pragma once

#include <cstdint>
#include <limits>

#include "kernels/cuda/block.cuh"

namespace palimpsest {

/// The largest number that is no infinity, infinity, the smallest normal number, and the distance from 1 to
/// the next number: device code cannot call what std::numeric_limits has.
template <class Scalar>
inline constexpr Scalar largest_number = std::numeric_limits<Scalar>::max();
template <class Scalar>
inline constexpr Scalar infinite = std::numeric_limits<Scalar>::infinity();
template <class Scalar>
inline constexpr Scalar smallest_number = std::numeric_limits<Scalar>::min();
template <class Scalar>
inline constexpr Scalar rounding_of = std::numeric_limits<Scalar>::epsilon();

/// Room of a block for a solve.
template <class Scalar>
struct SolveRoom {
  Scalar* M = nullptr;            // [K, K]
  std::int64_t* order = nullptr;  // [K]
};

/// x <- M^{-1} x for a symmetric positive definite M [K, K], which is used up, by all threads of a block. M =
/// L D L^T without square roots, the rows in the order of their diagonals, largest first: it stays finite
/// where rounding has taken the definiteness away.
template <class Scalar>
__device__ void solve(std::int64_t K, const SolveRoom<Scalar>& room, Scalar* x) {
  Scalar* const M = room.M;
  std::int64_t* const order = room.order;
  each(K, [&](std::int64_t i) {
    // A diagonal that is no number comes first, so that every row has a place of its own.
    const auto size = [&](std::int64_t j) {
      const Scalar diagonal = fabs(M[j * K + j]);
      return diagonal <= largest_number<Scalar> ? diagonal : infinite<Scalar>;
    };
    const Scalar own = size(i);
    std::int64_t place = 0;
    for (std::int64_t j = 0; j < K; ++j) {
      const Scalar other = size(j);
      if (other > own || (other == own && j < i)) ++place;
    }
    order[place] = i;
  });

  // Row a after p: M_ab -= M_ap M_bp / d_p and x_a -= M_ap x_p / d_p; what stays in M_ap is L_ap d_p.
  const auto inverse_of = [](Scalar d) {
    return fabs(d) > smallest_number<Scalar> ? Scalar(1) / d : Scalar(0);
  };
  for (std::int64_t k = 0; k < K; ++k) {
    const std::int64_t p = order[k];
    const Scalar inverse = inverse_of(M[p * K + p]);
    each_by_warp(K - k - 1, [&](std::int64_t below, int lane) {
      const std::int64_t a = order[k + 1 + below];
      const Scalar factor = M[a * K + p] * inverse;
      for (std::int64_t s = k + 1 + lane; s <= k + 1 + below; s += warp_size) {
        const std::int64_t b = order[s];
        M[a * K + b] -= factor * M[b * K + p];
      }
      if (lane == 0) x[a] -= factor * x[p];
    });
  }
  // x_p / d_p, then x_a -= L_pa x_p for the rows a before p.
  each(K, [&](std::int64_t i) { x[i] *= inverse_of(M[i * K + i]); });
  for (std::int64_t k = K - 1; k > 0; --k) {
    const std::int64_t p = order[k];
    each(k, [&](std::int64_t r) {
      const std::int64_t a = order[r];
      x[a] -= M[p * K + a] * inverse_of(M[a * K + a]) * x[p];
    });
  }
}

}  // namespace palimpsest
