// The gains of recursive least squares (spec 3.13), written to be read.
//
// Key by key: a block takes one head from the first key to the last, its threads share the elements of P,
// which lies in shared memory where it fits. Every token for itself: a thread follows one element of R
// through all tokens and leaves it in a table; then a block for each of them factors R_t = L D L^T in its
// place, one column after the other, and solves. Products of two numbers of a vector are made before anything
// else meets them: then (i, j) and (j, i) get the same bits, and P stays exactly symmetric.

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/least_squares.h"

namespace palimpsest {

namespace {

constexpr int side = 16;  // threads of a block share a matrix in a square
constexpr int threads = side * side;
constexpr int threads_of_walk = 512;

/// p = P k, s = beta / (gamma + beta k^T p), b = s p, P_ij <- (P_ij - s p_i p_j) / gamma
template <class Scalar>
__global__ void __launch_bounds__(threads_of_walk)
    walk_keys(const LeastSquaresTokens<Scalar> tokens, bool is_shared, Scalar* all_P, Scalar* all_along) {
  extern __shared__ __align__(16) unsigned char shared[];
  constexpr int warps = threads_of_walk / warp_size;
  const int lane = static_cast<int>(threadIdx.x % warp_size);
  const int warp = static_cast<int>(threadIdx.x / warp_size);
  const std::int64_t head = blockIdx.x;
  const std::int64_t K = tokens.K;
  Scalar* const given = all_P + head * K * K;
  Scalar* const P = is_shared ? reinterpret_cast<Scalar*>(shared) : given;
  Scalar* const along = is_shared ? P + K * K : all_along + head * K;
  for (std::int64_t i = threadIdx.x; is_shared && i < K * K; i += threads_of_walk) P[i] = given[i];
  // x^T y, in all lanes of each warp
  const auto dot = [&](const Scalar* x, const Scalar* y) {
    Scalar part = 0;
    for (std::int64_t j = lane; j < K; j += warp_size) part += x[j] * y[j];
    return sum_of_lanes(part);
  };
  __syncthreads();
  for (std::int64_t t = 0; t < tokens.T; ++t) {
    const Scalar* const k = tokens.k.at(0, head) + t * tokens.k.token_stride;
    const Scalar gamma = *(tokens.gamma.at(0, head) + t * tokens.gamma.token_stride);
    const Scalar beta = *(tokens.beta.at(0, head) + t * tokens.beta.token_stride);
    for (std::int64_t i = warp; i < K; i += warps) {
      const Scalar p = dot(P + i * K, k);
      if (lane == 0) along[i] = p;
    }
    __syncthreads();
    const Scalar share = beta / (gamma + beta * dot(k, along));
    Scalar* const b = tokens.gains.at(0, head) + t * tokens.gains.token_stride;
    for (std::int64_t i = threadIdx.x; i < K; i += threads_of_walk) b[i] = share * along[i];
    for (std::int64_t i = warp; i < K; i += warps) {
      for (std::int64_t j = lane; j < K; j += warp_size) {
        const Scalar product = along[i] * along[j];
        P[i * K + j] = (P[i * K + j] - share * product) / gamma;
      }
    }
    __syncthreads();
  }
  if (!is_shared) return;
  for (std::int64_t i = threadIdx.x; i < K * K; i += threads_of_walk) given[i] = P[i];
  for (std::int64_t i = threadIdx.x; i < K; i += threads_of_walk) all_along[head * K + i] = along[i];
}

/// R_ij <- gamma_t R_ij + beta_t k_i k_j
template <class Scalar>
__global__ void collect_keys(const LeastSquaresTokens<Scalar> tokens, Scalar* R, Scalar* all_R) {
  const std::int64_t K = tokens.K;
  const std::int64_t index = thread_number();
  if (index >= tokens.heads * K * K) return;
  const std::int64_t head = index / (K * K);
  const std::int64_t ij = index % (K * K);
  Scalar own = R[index];
  for (std::int64_t t = 0; t < tokens.T; ++t) {
    const Scalar* const k = tokens.k.at(0, head) + t * tokens.k.token_stride;
    const Scalar gamma = *(tokens.gamma.at(0, head) + t * tokens.gamma.token_stride);
    const Scalar beta = *(tokens.beta.at(0, head) + t * tokens.beta.token_stride);
    const Scalar product = k[ij / K] * k[ij % K];
    own = gamma * own + beta * product;
    all_R[(head * tokens.T + t) * K * K + ij] = own;
  }
  R[index] = own;
}

/// R = L D L^T below and on the diagonal of R, by all threads of a block: D_j stands at (j, j), L_ij D_j at
/// (i, j).
template <class Scalar>
__device__ void factor(Scalar* R, std::int64_t K) {
  for (std::int64_t j = 0; j < K; ++j) {
    __syncthreads();
    const Scalar D = R[j * K + j];
    for (std::int64_t i = j + 1 + threadIdx.x / side; i < K; i += side) {
      const Scalar L = R[i * K + j] / D;
      for (std::int64_t m = j + 1 + threadIdx.x % side; m <= i; m += side) R[i * K + m] -= L * R[m * K + j];
    }
  }
  __syncthreads();
}

/// b = beta R^{-1} k in the token's row of gains: L z = k, w = D^{-1} z, L^T x = w
template <class Scalar>
__global__ void solve_gains(const LeastSquaresTokens<Scalar> tokens, Scalar* all_R) {
  const std::int64_t head = blockIdx.x / tokens.T;
  const std::int64_t t = blockIdx.x % tokens.T;
  const std::int64_t K = tokens.K;
  Scalar* const R = all_R + std::int64_t{blockIdx.x} * K * K;
  const Scalar* const k = tokens.k.at(0, head) + t * tokens.k.token_stride;
  Scalar* const x = tokens.gains.at(0, head) + t * tokens.gains.token_stride;
  factor(R, K);
  for (std::int64_t i = threadIdx.x; i < K; i += threads) x[i] = k[i];
  for (std::int64_t j = 0; j < K; ++j) {
    __syncthreads();
    const Scalar w = x[j] / R[j * K + j];
    for (std::int64_t i = j + 1 + threadIdx.x; i < K; i += threads) x[i] -= R[i * K + j] * w;
  }
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < K; i += threads) x[i] /= R[i * K + i];
  for (std::int64_t j = K - 1; j >= 0; --j) {
    __syncthreads();
    for (std::int64_t m = threadIdx.x; m < j; m += threads) x[m] -= R[j * K + m] / R[m * K + m] * x[j];
  }
  __syncthreads();
  const Scalar beta = *(tokens.beta.at(0, head) + t * tokens.beta.token_stride);
  for (std::int64_t i = threadIdx.x; i < K; i += threads) x[i] *= beta;
}

/// X = R^{-1}: a thread solves for one column of it.
template <class Scalar>
__global__ void invert_each(std::int64_t K, Scalar* all_R, Scalar* all_X) {
  Scalar* const R = all_R + std::int64_t{blockIdx.x} * K * K;
  factor(R, K);
  for (std::int64_t c = threadIdx.x; c < K; c += threads) {
    Scalar* const X = all_X + std::int64_t{blockIdx.x} * K * K + c;
    for (std::int64_t i = 0; i < K; ++i) {
      Scalar z = i == c ? Scalar(1) : Scalar(0);
      for (std::int64_t j = c; j < i; ++j) z -= R[i * K + j] / R[j * K + j] * X[j * K];
      X[i * K] = z;
    }
    for (std::int64_t i = 0; i < K; ++i) X[i * K] /= R[i * K + i];
    for (std::int64_t i = K - 1; i >= 0; --i) {
      Scalar x = X[i * K];
      for (std::int64_t j = i + 1; j < K; ++j) x -= R[j * K + i] / R[i * K + i] * X[j * K];
      X[i * K] = x;
    }
  }
}

/// P_ij = (X_ij + X_ji) / 2
template <class Scalar>
__global__ void symmetrise(std::int64_t count, std::int64_t K, const Scalar* X, Scalar* P) {
  const std::int64_t index = thread_number();
  if (index >= count * K * K) return;
  const std::int64_t start = index / (K * K) * K * K;
  const std::int64_t i = index / K % K;
  const std::int64_t j = index % K;
  P[index] = (X[start + i * K + j] + X[start + j * K + i]) / 2;
}

}  // namespace

template <class Scalar>
void LeastSquaresTokens<Scalar>::walk(Scalar* P, Scalar* along) const {
  if (T * K == 0) return;
  const auto bytes = static_cast<std::int64_t>(sizeof(Scalar)) * K * (K + 1);
  const bool is_shared = bytes <= most_shared_bytes();
  launch(walk_keys<Scalar>,
         {blocks_for(heads), threads_of_walk, is_shared ? static_cast<std::size_t>(bytes) : 0}, *this,
         is_shared, P, along);
}

template <class Scalar>
void LeastSquaresTokens<Scalar>::collect(Scalar* R, Scalar* all_R) const {
  if (T > 0) launch(collect_keys<Scalar>, {blocks_for(heads * K * K, threads), threads}, *this, R, all_R);
}

template <class Scalar>
void LeastSquaresTokens<Scalar>::solve(Scalar* all_R) const {
  if (K > 0) launch(solve_gains<Scalar>, {blocks_for(heads * T), threads}, *this, all_R);
}

template <class Scalar>
void LeastSquaresTokens<Scalar>::invert(Scalar* R, Scalar* room, Scalar* P) const {
  if (K == 0) return;
  launch(invert_each<Scalar>, {blocks_for(heads), threads}, K, R, room);
  launch(symmetrise<Scalar>, {blocks_for(heads * K * K, threads), threads}, heads, K, room, P);
}

template struct LeastSquaresTokens<double>;
template struct LeastSquaresTokens<float>;

}  // namespace palimpsest
