// Updates of whole batches, written to be read (spec 3.11): what is no product of two matrices.
//
// An element of a result is one thread's, wherever it needs no other; norms are a column's thread's or a
// whole block's. Squares are taken of numbers of size 1 at most, so that none overflows or vanishes.

#include <algorithm>

#include "kernels/cuda/block.cuh"
#include "kernels/cuda/lact.h"

namespace palimpsest {

namespace {

constexpr int threads_of_norm = 1024;

/// G_kc <- G_kc + sum_i eta_i K_ik R_ic
template <class Scalar>
__global__ void gather_elements(std::int64_t heads, const HeadMatrices<const Scalar> K,
                                const HeadMatrices<const Scalar> R, const HeadMatrices<const Scalar> eta,
                                bool adds, const HeadMatrices<Scalar> G) {
  each_of(heads, G.rows * G.columns, [&](std::int64_t head, std::int64_t index) {
    const std::int64_t k = index / G.columns;
    const std::int64_t c = index % G.columns;
    Scalar sum = 0;
    for (std::int64_t i = 0; i < K.rows; ++i) sum += eta(head, i, 0) * K(head, i, k) * R(head, i, c);
    G(head, k, c) = adds ? G(head, k, c) + sum : sum;
  });
}

/// Z_kc = f X_kc + Y_kc
template <class Scalar>
__global__ void add_elements(std::int64_t heads, const HeadMatrices<const Scalar> f,
                             const HeadMatrices<const Scalar> X, const HeadMatrices<const Scalar> Y,
                             const HeadMatrices<Scalar> Z) {
  each_of(heads, Z.rows * Z.columns, [&](std::int64_t head, std::int64_t index) {
    const std::int64_t k = index / Z.columns;
    const std::int64_t c = index % Z.columns;
    const Scalar x = f.data ? f(head, 0, 0) * X(head, k, c) : X(head, k, c);
    Z(head, k, c) = Y.data ? x + Y(head, k, c) : x;
  });
}

/// `largest`, unless there is nothing to divide by.
template <class Scalar>
__device__ Scalar unit_of(Scalar largest) {
  return largest > 0 ? largest : Scalar(1);
}

/// norm = u sqrt(sum_kc (M_kc / u)^2) with u = max |M_kc|, X_kc = M_kc / (norm + eps): a block for each head.
template <class Scalar>
__global__ void __launch_bounds__(threads_of_norm)
    divide_elements(std::int64_t heads, const HeadMatrices<const Scalar> M, Scalar eps,
                    const HeadMatrices<Scalar> norm, const HeadMatrices<Scalar> X) {
  for (std::int64_t head = blockIdx.x; head < heads; head += gridDim.x) {
    const int columns = static_cast<int>(M.columns);
    const auto element = [&](std::int64_t i) {
      return M(head, static_cast<int>(i) / columns, static_cast<int>(i) % columns);
    };
    const std::int64_t count = M.rows * M.columns;
    const Scalar unit = unit_of(block_reduce(
        count, Scalar(0), [&](std::int64_t i) { return fabs(element(i)); },
        [](Scalar a, Scalar b) { return a > b ? a : b; }));
    const Scalar squares = block_reduce(
        count, Scalar(0), [&](std::int64_t i) { return element(i) / unit * (element(i) / unit); },
        [](Scalar a, Scalar b) { return a + b; });
    const Scalar size = unit * sqrt(squares);
    if (threadIdx.x == 0) norm(head, 0, 0) = size;
    each(M.rows, M.columns,
         [&](std::int64_t k, std::int64_t c) { X(head, k, c) = M(head, k, c) / (size + eps); });
  }
}

/// norm_c = u sqrt(sum_k (S_kc / u)^2) with u = max_k |S_kc|, factor_c = wanted_c / (norm_c + eps), S_kc <-
/// factor_c S_kc
template <class Scalar>
__global__ void restore_columns(std::int64_t heads, const HeadMatrices<const Scalar> wanted, Scalar eps,
                                const HeadMatrices<Scalar> norms, const HeadMatrices<Scalar> factors,
                                const HeadMatrices<Scalar> S) {
  each_of(heads, S.columns, [&](std::int64_t head, std::int64_t c) {
    Scalar largest = 0;
    for (std::int64_t k = 0; k < S.rows; ++k) {
      const Scalar size = fabs(S(head, k, c));
      if (size > largest) largest = size;
    }
    const Scalar unit = unit_of(largest);
    Scalar squares = 0;
    for (std::int64_t k = 0; k < S.rows; ++k) squares += S(head, k, c) / unit * (S(head, k, c) / unit);
    const Scalar norm = unit * sqrt(squares);
    const Scalar factor = wanted(head, 0, c) / (norm + eps);
    norms(head, 0, c) = norm;
    factors(head, 0, c) = factor;
    for (std::int64_t k = 0; k < S.rows; ++k) S(head, k, c) *= factor;
  });
}

}  // namespace

template <class Scalar>
void LactKernels<Scalar>::gather_gradient(std::int64_t heads, const Given& K, const Given& R,
                                          const Given& eta, bool adds, const Made& G) {
  launch(gather_elements<Scalar>, grid_of_each(heads, G.rows * G.columns), heads, K, R, eta, adds, G);
}

template <class Scalar>
void LactKernels<Scalar>::add_scaled(std::int64_t heads, const Given& f, const Given& X, const Given& Y,
                                     const Made& Z) {
  launch(add_elements<Scalar>, grid_of_each(heads, Z.rows * Z.columns), heads, f, X, Y, Z);
}

template <class Scalar>
void LactKernels<Scalar>::divide_by_norm(std::int64_t heads, const Given& M, Scalar eps, const Made& norm,
                                         const Made& X) {
  launch(divide_elements<Scalar>, {blocks_for(std::min(heads, most_grid_blocks)), threads_of_norm}, heads, M,
         eps, norm, X);
}

template <class Scalar>
void LactKernels<Scalar>::restore_column_norms(std::int64_t heads, const Given& wanted, Scalar eps,
                                               const Made& norms, const Made& factors, const Made& S) {
  launch(restore_columns<Scalar>, grid_of_each(heads, S.columns), heads, wanted, eps, norms, factors, S);
}

template struct LactKernels<double>;
template struct LactKernels<float>;

}  // namespace palimpsest
