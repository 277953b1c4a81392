#pragma once

#include "kernels/cuda/head_matrices.h"

namespace palimpsest {

/// Some tokens of recursive least squares of all heads in device memory: core/engines/mesanet.h.
template <class Scalar>
struct LeastSquaresTokens {
  std::int64_t heads = 1;  // B H
  std::int64_t T = 0;
  std::int64_t K = 0;
  DeviceRows<const Scalar> k = {};      // [T, H, K]
  DeviceRows<const Scalar> gamma = {};  // [T, H, 1]
  DeviceRows<const Scalar> beta = {};   // [T, H, 1]
  DeviceRows<Scalar> gains = {};        // [T, H, K]

  /// The gains key by key. Advances P [H, K, K]; `along` [H, K] receives P k of the last key before it.
  /// Throws Error with CUDA's words, as all of these do.
  void walk(Scalar* P, Scalar* along) const;

  /// R_t = gamma_t R_{t-1} + beta_t k_t k_t^T of every token, all_R [H, T, K, K]. Advances R [H, K, K].
  void collect(Scalar* R, Scalar* all_R) const;

  /// The gains beta_t R_t^{-1} k_t, every token for itself. all_R is used up.
  void solve(Scalar* all_R) const;

  /// The inverses of symmetric positive definite matrices R [H, K, K], exactly symmetric: P [H, K, K]. R is
  /// used up; `room` is as large.
  void invert(Scalar* R, Scalar* room, Scalar* P) const;
};

}  // namespace palimpsest
