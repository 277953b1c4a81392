#pragma once

#include <cstdint>

#include "kernels/cuda/head_matrices.h"

namespace palimpsest {

/// What LaCT (core/engines/lact.h) makes besides products, for every head. All throw Error with CUDA's words.
template <class Scalar>
struct LactKernels {
  using Given = HeadMatrices<const Scalar>;
  using Made = HeadMatrices<Scalar>;

  /// G_kc = sum_i eta_i K_ik R_ic over the rows [n, K], [n, V], [n, 1]; with `adds` that is added to G.
  static void gather_gradient(std::int64_t heads, const Given& K, const Given& R, const Given& eta, bool adds,
                              const Made& G);

  /// Z = f X + Y with one number f [1, 1] for each head; without data f is 1, and Y is 0. Z may be X or Y.
  static void add_scaled(std::int64_t heads, const Given& f, const Given& X, const Given& Y, const Made& Z);

  /// X = M / (|M| + eps) and the norm [1, 1], the root of all squares.
  static void divide_by_norm(std::int64_t heads, const Given& M, Scalar eps, const Made& norm, const Made& X);

  /// Scales every column of S [K, V] by its factor [1, V]: wanted / (norm + eps).
  static void restore_column_norms(std::int64_t heads, const Given& wanted, Scalar eps, const Made& norms,
                                   const Made& factors, const Made& S);
};

}  // namespace palimpsest
