// The gains of recursive least squares (spec 3.13), written to be read.
//
// Key by key: a block takes one head from the first key to the last, its threads share the elements of P,
// which lies in shared memory where it fits. Every token for itself: a thread follows one element of R
// through all tokens and leaves it in a table; then a block for each of them factors R_t = L D L^T in its
// place, one column after the other, and solves. Products of two numbers of a vector are made before anything
// else meets them: then (i, j) and (j, i) get the same bits, and P stays exactly symmetric.

#include "kernels/cuda/engine.h"
#include "kernels/cuda/grid.cuh"

namespace palimpsest::cuda {

namespace {

constexpr int side = 16;  // threads of a block share a matrix in a square
constexpr int threads_of_matrix = side * side;
constexpr int threads_of_walk = 512;

/// Some tokens of all heads.
template <class Scalar>
struct LeastSquaresTokens {
  std::int64_t heads = 1;
  std::int64_t T = 0;
  std::int64_t K = 0;
  DeviceRows<const Scalar> k = {};      // [H, T, K]
  DeviceRows<const Scalar> gamma = {};  // [H, T, 1]
  DeviceRows<const Scalar> beta = {};   // [H, T, 1]
  DeviceRows<Scalar> gains = {};        // [H, T, K]
};

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
    const Scalar* const k = tokens.k.row(head, t);
    const Scalar gamma = *tokens.gamma.row(head, t);
    const Scalar beta = *tokens.beta.row(head, t);
    for (std::int64_t i = warp; i < K; i += warps) {
      const Scalar p = dot(P + i * K, k);
      if (lane == 0) along[i] = p;
    }
    __syncthreads();
    const Scalar share = beta / (gamma + beta * dot(k, along));
    Scalar* const b = tokens.gains.row(head, t);
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
    const Scalar* const k = tokens.k.row(head, t);
    const Scalar gamma = *tokens.gamma.row(head, t);
    const Scalar beta = *tokens.beta.row(head, t);
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
  const Scalar* const k = tokens.k.row(head, t);
  Scalar* const x = tokens.gains.row(head, t);
  factor(R, K);
  for (std::int64_t i = threadIdx.x; i < K; i += threads_of_matrix) x[i] = k[i];
  for (std::int64_t j = 0; j < K; ++j) {
    __syncthreads();
    const Scalar w = x[j] / R[j * K + j];
    for (std::int64_t i = j + 1 + threadIdx.x; i < K; i += threads_of_matrix) x[i] -= R[i * K + j] * w;
  }
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < K; i += threads_of_matrix) x[i] /= R[i * K + i];
  for (std::int64_t j = K - 1; j >= 0; --j) {
    __syncthreads();
    for (std::int64_t m = threadIdx.x; m < j; m += threads_of_matrix)
      x[m] -= R[j * K + m] / R[m * K + m] * x[j];
  }
  __syncthreads();
  const Scalar beta = *tokens.beta.row(head, t);
  for (std::int64_t i = threadIdx.x; i < K; i += threads_of_matrix) x[i] *= beta;
}

/// X = R^{-1}: a thread solves for one column of it.
template <class Scalar>
__global__ void invert_each(std::int64_t K, Scalar* all_R, Scalar* all_X) {
  Scalar* const R = all_R + std::int64_t{blockIdx.x} * K * K;
  factor(R, K);
  for (std::int64_t c = threadIdx.x; c < K; c += threads_of_matrix) {
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
class FamilyRun<LeastSquaresKeys, Scalar> : public AnyFamily {
 public:
  using Keys = LeastSquaresKeys<Scalar>;
  using Tokens = LeastSquaresTokens<Scalar>;

  explicit FamilyRun(HeadsOnDevice<LeastSquaresKeys, Scalar>& device) : device_(device) {}

  std::vector<Matrix<Scalar>> run() {
    DeviceMatrices<Scalar>& k = device_.rows(&Keys::k);
    DeviceMatrices<Scalar>& gains = device_.make("", k.rows(), k.columns());
    Scalar* const P = device_.state(0).data();
    all_ = Tokens{.heads = k.heads(),
                  .T = k.rows(),
                  .K = k.columns(),
                  .k = k,
                  .gamma = device_.upload(&Keys::gamma),
                  .beta = device_.upload(&Keys::beta),
                  .gains = gains};
    if (device_.request.form == Form::parallel)
      solve(P);
    else
      walk(P);
    device_.download_states();
    return gains.download();
  }

 private:
  /// Key by key. Advances P [H, K, K]; a tap receives P k of the last key before it.
  void walk(Scalar* P) {
    constexpr Index at_once = 1024;
    Scalar* const along = device_.make("along", all_.K, 1).data();
    const std::size_t shared = shared_bytes_or_none(Index{sizeof(Scalar)} * all_.K * (all_.K + 1));
    device_.compute([&] {
      device_.in_parts(all_.T, at_once, [&](Index first, Index count) {
        launch(walk_keys<Scalar>, {blocks_for(all_.heads), threads_of_walk, shared},
               some_tokens(first, count), shared > 0, P, along);
      });
    });
    if (all_.T > 0) device_.record_all();
  }

  /// Some tokens of all heads at a time: as many as there is room for their matrices, R_t = gamma_t R_{t-1} +
  /// beta_t k_t k_t^T, each then solved with.
  void solve(Scalar* P) {
    const Index K = all_.K;
    const Index at_once = fitting(sizeof(Scalar) * static_cast<double>(all_.heads * K * K), all_.T);
    Scalar* const R = device_.make("", K, K).data();
    Scalar* const room = device_.make("", K, K).data();
    Scalar* const all_R = device_.make("", all_.heads * at_once, K, K).data();
    device_.compute([&] {
      invert(P, room, R);
      device_.in_parts(all_.T, at_once, [&](Index first, Index count) {
        const Tokens some = some_tokens(first, count);
        launch(collect_keys<Scalar>, {blocks_for(all_.heads * K * K, threads_of_matrix), threads_of_matrix},
               some, R, all_R);
        launch(solve_gains<Scalar>, {blocks_for(all_.heads * count), threads_of_matrix}, some, all_R);
      });
      invert(R, room, P);
    });
  }

  /// The inverses of symmetric positive definite matrices R [H, K, K], exactly symmetric: P [H, K, K]. R is
  /// used up; `room` is as large.
  void invert(Scalar* R, Scalar* room, Scalar* P) const {
    launch(invert_each<Scalar>, {blocks_for(all_.heads), threads_of_matrix}, all_.K, R, room);
    launch(symmetrise<Scalar>,
           {blocks_for(all_.heads * all_.K * all_.K, threads_of_matrix), threads_of_matrix}, all_.heads,
           all_.K, room, P);
  }

  /// `count` tokens from `first` on.
  Tokens some_tokens(Index first, Index count) const {
    Tokens some = all_;
    some.T = count;
    for (auto* const rows : {&some.k, &some.gamma, &some.beta}) *rows = rows->from(0, first);
    some.gains = some.gains.from(0, first);
    return some;
  }

  HeadsOnDevice<LeastSquaresKeys, Scalar>& device_;
  Tokens all_;
};

PALIMPSEST_CUDA_ENGINES(, LeastSquaresKeys);

}  // namespace palimpsest::cuda
