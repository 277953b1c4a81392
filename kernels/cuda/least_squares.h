#pragma once

#include "kernels/cuda/row_programs.h"

namespace palimpsest {

/// Some tokens of recursive least squares of all heads in device memory: core/engines/least_squares.h.
template <class Scalar>
struct LeastSquaresTokens {
  std::int64_t heads = 1;  // B H
  std::int64_t T = 0;
  std::int64_t K = 0;
  DeviceRows<const Scalar> k = {};      // [T, H, K]
  DeviceRows<const Scalar> gamma = {};  // [T, H, 1]
  DeviceRows<const Scalar> beta = {};   // [T, H, 1]
  DeviceRows<Scalar> gains = {};        // [T, H, K]
};

/// The gains key by key. Advances P [H, K, K]; `along` [H, K] receives P k of the last key before it. Throws
/// Error with CUDA's words, as all of these do.
template <class Scalar>
void walk_gains(const LeastSquaresTokens<Scalar>& tokens, Scalar* P, Scalar* along);

/// R_t = gamma_t R_{t-1} + beta_t k_t k_t^T of every token, all_R [H, T, K, K]. Advances R [H, K, K].
template <class Scalar>
void collect_keys(const LeastSquaresTokens<Scalar>& tokens, Scalar* R, Scalar* all_R);

/// The gains beta_t R_t^{-1} k_t, every token for itself. all_R is used up.
template <class Scalar>
void solve_gains(const LeastSquaresTokens<Scalar>& tokens, Scalar* all_R);

/// The inverses of symmetric positive definite matrices R [count, K, K], exactly symmetric: P [count, K, K].
/// R is used up; `room` is as large.
template <class Scalar>
void invert_symmetric(std::int64_t count, std::int64_t K, Scalar* R, Scalar* room, Scalar* P);

}  // namespace palimpsest
