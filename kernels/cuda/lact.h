#pragma once

#include <cstdint>

#include "kernels/cuda/head_matrices.h"

namespace palimpsest {

/// What LaCT (core/engines/lact.h) makes besides products, for every head. All throw Error with CUDA's words.

/// G_kc = sum_i eta_i K_ik R_ic over the rows [n, K], [n, V], [n, 1]; with `adds` that is added to G.
template <class Scalar>
void gather_gradient(std::int64_t heads, const GivenMatrices<Scalar>& K, const GivenMatrices<Scalar>& R,
                     const GivenMatrices<Scalar>& eta, bool adds, const HeadMatrices<Scalar>& G);

/// Z = f X + Y with one number f [1, 1] for each head; without data f is 1, and Y is 0. Z may be X or Y.
template <class Scalar>
void add_scaled(std::int64_t heads, const GivenMatrices<Scalar>& f, const GivenMatrices<Scalar>& X,
                const GivenMatrices<Scalar>& Y, const HeadMatrices<Scalar>& Z);

/// X = M / (|M| + eps) and the norm [1, 1], the root of all squares.
template <class Scalar>
void divide_by_norm(std::int64_t heads, const GivenMatrices<Scalar>& M, Scalar eps,
                    const HeadMatrices<Scalar>& norm, const HeadMatrices<Scalar>& X);

/// Scales every column of S [K, V] by its factor [1, V]: wanted / (norm + eps).
template <class Scalar>
void restore_column_norms(std::int64_t heads, const GivenMatrices<Scalar>& wanted, Scalar eps,
                          const HeadMatrices<Scalar>& norms, const HeadMatrices<Scalar>& factors,
                          const HeadMatrices<Scalar>& S);

}  // namespace palimpsest
