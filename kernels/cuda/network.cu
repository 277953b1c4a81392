// Memories that are networks, written to be read (spec 3.10, 3.12).
//
// A piece needs the weights after the piece before it: a block takes one head from its first token to its
// last. Its threads share every matrix of a piece and synchronise after it. The matrices lie in device
// memory, where a trace reads them after a piece.
//
// A piece of few tokens reads all weights for little work, so that most of the time they are waited for. Each
// is loaded once for four tokens, by neighbouring threads, a few at a time; and at the end of a batch the
// weights change in the pass that sums up their gradient.

#include "core/numbers/gelu_constants.h"
#include "kernels/cuda/block.cuh"
#include "kernels/cuda/engine.h"

namespace palimpsest::cuda {

namespace {

constexpr int threads = 512;
constexpr int few_tokens = 4;

/// More layers than any inner network has.
constexpr int largest_layer_count = 2;

/// One layer of the inner networks of all heads: its parameters, carried, and what it makes
/// of the tokens of a piece. L: tokens of the largest piece.
template <class Scalar>
struct NetworkLayer {
  std::int64_t inputs = 0;        // D
  std::int64_t outputs = 0;       // E
  Scalar* weights = nullptr;      // [H, D, E]
  Scalar* bias = nullptr;         // [H, E]; null: the layers have none
  Scalar* weights_sum = nullptr;  // [H, D, E], of the gradients of the batch so far
  Scalar* bias_sum = nullptr;     // [H, E]
  Scalar* own_weights = nullptr;  // [H, D, E], of the last token
  Scalar* own_bias = nullptr;     // [H, E]
  Scalar* Z = nullptr;            // [H, L, E], its outputs for the keys
  Scalar* G = nullptr;            // [H, L, E], the gradient there
  Scalar* step = nullptr;         // [H, L, E], eta G
  Scalar* P = nullptr;            // [H, L, L], query-key scores; null: primal
  Scalar* Z_q = nullptr;          // [H, L, E], its outputs for the queries
  Scalar* hidden = nullptr;       // [H, L, E], gelu(Z), of every layer but the last
  Scalar* X = nullptr;            // [H, L, E], gelu(Z_q), likewise
};

/// The inner networks of all heads, their tokens and what a piece of them makes.
template <class Scalar>
struct Networks {
  std::int64_t heads = 0;  // H
  std::int64_t T = 0;      // tokens
  std::int64_t K = 0;
  std::int64_t V = 0;
  std::int64_t L = 0;              // tokens of the largest piece
  const Scalar* Q = nullptr;       // [H, T, K]
  const Scalar* keys = nullptr;    // [H, T, K]
  const Scalar* values = nullptr;  // [H, T, V]
  const Scalar* eta = nullptr;     // [H, T]
  const Scalar* sigma = nullptr;   // [H, T]
  Scalar* O = nullptr;             // [H, T, V]
  int layers = 0;
  NetworkLayer<Scalar> layer[largest_layer_count] = {};

  const Scalar* gain = nullptr;       // [H, V] of the layer norm; null: none
  const Scalar* norm_bias = nullptr;  // [H, V]
  const Scalar* eps = nullptr;        // [H]
  Scalar* standardised = nullptr;     // [H, L, V]
  Scalar* deviation = nullptr;        // [H, L]
  Scalar* error = nullptr;            // [H, L, V]
  Scalar* delta = nullptr;            // [H, L, V]
};

template <class Scalar>
__device__ Scalar gelu_tanh(Scalar x) {
  using namespace gelu_constants;
  return tanh(Scalar(root) * (x + Scalar(cubic) * x * x * x));
}

/// x/2 (1 + tanh(u))
template <class Scalar>
__device__ Scalar gelu(Scalar x) {
  return Scalar(0.5) * x * (Scalar(1) + gelu_tanh(x));
}

/// 1/2 (1 + tanh(u)) + x/2 (1 - tanh(u)^2) du/dx; far out tanh is 1 or -1, whatever the slope has grown to.
template <class Scalar>
__device__ Scalar gelu_derivative(Scalar x) {
  using namespace gelu_constants;
  const Scalar t = gelu_tanh(x);
  const Scalar slope = Scalar(root) * (1 + 3 * Scalar(cubic) * x * x);
  const Scalar bend = 1 - t * t == 0 ? Scalar(0) : Scalar(0.5) * x * (1 - t * t) * slope;
  return Scalar(0.5) * (1 + t) + bend;
}

/// Calls put(i, e, sum_{d < D} left(i, d) right(d, e)) for i < count and e < E, each by one thread: some
/// threads share the sums of few_tokens rows and of one column, neighbours have neighbouring columns.
template <class Scalar, class Left, class Right, class Put>
__device__ void each_product(std::int64_t count, std::int64_t E, std::int64_t D, Left left, Right right,
                             Put put) {
  constexpr int columns = threads / few_tokens;
  constexpr int shares = threads / columns;
  __shared__ Scalar sums[shares][few_tokens][columns];
  const int column = threadIdx.x % columns;
  const int share = threadIdx.x / columns;
  for (std::int64_t first = 0; first < E; first += columns) {
    const std::int64_t e = first + column;
    for (std::int64_t i = 0; i < count; i += few_tokens) {
      Scalar sum[few_tokens] = {};
#pragma unroll 8
      for (std::int64_t d = share; d < D; d += shares) {
        const Scalar factor = right(d, min(e, E - 1));
        unrolled<few_tokens>([&](int n) { sum[n] += left(min(i + n, count - 1), d) * factor; });
      }
      unrolled<few_tokens>([&](int n) { sums[share][n][column] = sum[n]; });
      __syncthreads();
      Scalar all = 0;
      for (int n = 0; n < shares; ++n) all += sums[n][share][column];
      if (i + share < count && e < E) put(i + share, e, all);
      __syncthreads();
    }
  }
}

/// Calls put(i, d, sum_{e < E} left(i, e) right(d, e)) for i < count and d < D, by one lane: a warp adds up
/// the sums of few_tokens rows and as many d.
template <class Scalar, class Left, class Right, class Put>
__device__ void each_dot_product(std::int64_t count, std::int64_t D, std::int64_t E, Left left, Right right,
                                 Put put) {
  each_by_warp((D + few_tokens - 1) / few_tokens, [&](std::int64_t group, int lane) {
    const std::int64_t first = group * few_tokens;
    for (std::int64_t i = 0; i < count; i += few_tokens) {
      Scalar sum[few_tokens][few_tokens] = {};
#pragma unroll 4
      for (std::int64_t e = lane; e < E; e += warp_size) {
        unrolled<few_tokens>([&](int m) {
          const Scalar factor = right(min(first + m, D - 1), e);
          unrolled<few_tokens>([&](int n) { sum[n][m] += left(min(i + n, count - 1), e) * factor; });
        });
      }
      unrolled<few_tokens, few_tokens>([&](int n, int m) {
        const Scalar all = sum_of_lanes(sum[n][m]);
        if (lane == n * few_tokens + m && i + n < count && first + m < D) put(i + n, first + m, all);
      });
    }
  });
}

/// A piece of one head: its rows, and where its matrices lie.
template <class Scalar>
struct NetworkPiece {
  const Networks<Scalar>& networks;
  std::int64_t head;
  std::int64_t first;
  std::int64_t count;
  std::int64_t first_row = head * networks.T + first;
  std::int64_t K = networks.K;
  std::int64_t V = networks.V;
  const Scalar* keys = networks.keys + first_row * K;
  const Scalar* values = networks.values + first_row * V;
  const Scalar* Q = networks.Q + first_row * K;
  const Scalar* eta = networks.eta + first_row;
  const Scalar* sigma = networks.sigma + first_row;
  Scalar* O = networks.O + first_row * V;

  /// A weight and the sum of its gradients.
  struct WithSum {
    Scalar weight;
    Scalar sum;
  };

  /// Calls put(i, take(i)) for i < count, each by one thread, a few at a time.
  template <class Take, class Put>
  static __device__ void each_few(std::int64_t count, Take take, Put put) {
    few_at_once(std::int64_t{threadIdx.x}, count, std::int64_t{threads}, take, put);
    __syncthreads();
  }

  /// The gradients of all layers, times eta.
  __device__ void take_gradients() const {
    for (int l = 0; l < networks.layers; ++l) {
      const auto& layer = networks.layer[l];
      pass_layer(l, inputs(l), matrix(l, layer.weights), row(l, layer.bias), rows(l, layer.Z),
                 rows(l, layer.hidden));
    }
    take_output_gradient();
    for (int l = networks.layers - 1; l >= 0; --l) {
      const std::int64_t D = networks.layer[l].inputs;
      const std::int64_t E = networks.layer[l].outputs;
      const Scalar* const G = rows(l, networks.layer[l].G);
      Scalar* const step = rows(l, networks.layer[l].step);
      // eta_i G_ie
      each(count, E, [&](std::int64_t i, std::int64_t e) { step[i * E + e] = eta[i] * G[i * E + e]; });
      if (l == 0) break;
      const Scalar* const W = matrix(l, networks.layer[l].weights);
      const Scalar* const Z = rows(l - 1, networks.layer[l - 1].Z);
      Scalar* const G_below = rows(l - 1, networks.layer[l - 1].G);
      // G'_id = gelu'(Z_id) sum_e G_ie W_de
      each_dot_product<Scalar>(
          count, D, E, [&](std::int64_t i, std::int64_t e) { return G[i * E + e]; },
          [&](std::int64_t d, std::int64_t e) { return W[d * E + e]; },
          [&](std::int64_t i, std::int64_t d, Scalar sum) {
            G_below[i * D + d] = sum * gelu_derivative(Z[i * D + d]);
          });
    }
  }

  /// A_de += sum_i H_id eta_i G_ie, and for a bias sum_i eta_i G_ie
  __device__ void add_to_sums() const {
    each_gradient(true, [](Scalar&, Scalar& A, Scalar sum) { A = sum; });
  }

  /// The same, and the weights of the next batch: W -= s A, A <- 0. With `is_all` A is 0 before, too.
  __device__ void end_batch(bool is_all) const {
    const Scalar s = last_sigma();
    each_gradient(!is_all, [s, is_all](Scalar& W, Scalar& A, Scalar sum) {
      W -= s * sum;
      if (!is_all) A = 0;
    });
  }

  /// Calls visit(W, A, sum) for every number of all weights and biases and of the sums of their gradients,
  /// `sum` being that of this piece, and with `adds` A + that.
  template <class Visit>
  __device__ void each_gradient(bool adds, Visit visit) const {
    for (int l = 0; l < networks.layers; ++l) {
      const std::int64_t D = networks.layer[l].inputs;
      const std::int64_t E = networks.layer[l].outputs;
      const Scalar* const H = inputs(l);
      const Scalar* const step = rows(l, networks.layer[l].step);
      const auto of = [&](Scalar* W, Scalar* A, std::int64_t inputs_of, auto input) {
        each_few(
            inputs_of * E,
            [&](std::int64_t at) {
              const int d = static_cast<int>(at) / static_cast<int>(E);
              const int e = static_cast<int>(at) % static_cast<int>(E);
              Scalar sum = 0;
              for (std::int64_t i = 0; i < count; ++i) sum += input(i, d) * step[i * E + e];
              return WithSum{W[at], adds ? A[at] + sum : sum};
            },
            [&](std::int64_t at, WithSum given) {
              visit(given.weight, A[at], given.sum);
              W[at] = given.weight;
            });
      };
      of(matrix(l, networks.layer[l].weights), matrix(l, networks.layer[l].weights_sum), D,
         [&](std::int64_t i, int d) { return H[i * D + d]; });
      if (networks.layer[l].bias)
        of(row(l, networks.layer[l].bias), row(l, networks.layer[l].bias_sum), 1,
           [](std::int64_t, int) { return Scalar(1); });
    }
  }

  /// Calls take(W, A, own) and then put with it for every number of all weights and biases, of the sums of
  /// their gradients and of the last token's own.
  template <class Take, class Put>
  __device__ void each_parameter(Take take, Put put) const {
    for (int l = 0; l < networks.layers; ++l) {
      const NetworkLayer<Scalar>& layer = networks.layer[l];
      const auto of = [&](Scalar* W, Scalar* A, Scalar* own, std::int64_t size) {
        each_few(
            W ? size : 0, [&](std::int64_t i) { return take(W[i], A[i], own[i]); },
            [&](std::int64_t i, Scalar taken) { put(W[i], A[i], own[i], taken); });
      };
      of(matrix(l, layer.weights), matrix(l, layer.weights_sum), matrix(l, layer.own_weights),
         layer.inputs * layer.outputs);
      of(row(l, layer.bias), row(l, layer.bias_sum), row(l, layer.own_bias), layer.outputs);
    }
  }

  /// W - s A.
  __device__ void make_own_weights(Scalar s) const {
    each_parameter([s](const Scalar& W, const Scalar& A, const Scalar&) { return W - s * A; },
                   [](Scalar&, Scalar&, Scalar& own, Scalar taken) { own = taken; });
  }

  /// The next batch: W <- W_own, A <- 0.
  __device__ void begin_next_batch() const {
    each_parameter([](const Scalar&, const Scalar&, const Scalar& own) { return own; },
                   [](Scalar& W, Scalar& A, Scalar&, Scalar taken) {
                     W = taken;
                     A = 0;
                   });
  }

  /// The output of the network with the token's own weights.
  __device__ void answer_with_own_weights() const {
    for (int l = 0; l < networks.layers; ++l) {
      const auto& layer = networks.layer[l];
      pass_layer(l, queries(l), matrix(l, layer.own_weights), row(l, layer.own_bias), rows(l, layer.Z_q),
                 rows(l, layer.X));
    }
    write_outputs();
  }

  /// The same outputs without weights per token: token j changes that of token i by P_ij times its gradient.
  /// With `is_first` the batch has no earlier ones: A is 0.
  __device__ void answer_by_similarity(bool is_first) const {
    for (int l = 0; l < networks.layers; ++l) {
      const std::int64_t D = networks.layer[l].inputs;
      const std::int64_t E = networks.layer[l].outputs;
      const Scalar* const X = queries(l);
      const Scalar* const H = inputs(l);
      const Scalar* const W = matrix(l, networks.layer[l].weights);
      const Scalar* const A = matrix(l, networks.layer[l].weights_sum);
      const Scalar* const b = row(l, networks.layer[l].bias);
      const Scalar* const a = row(l, networks.layer[l].bias_sum);
      const Scalar* const step = rows(l, networks.layer[l].step);
      Scalar* const P = networks.layer[l].P + head * networks.L * networks.L;
      Scalar* const Z = rows(l, networks.layer[l].Z_q);
      Scalar* const next = rows(l, networks.layer[l].X);
      const auto query = [&](std::int64_t i, std::int64_t d) { return X[i * D + d]; };
      // P_ij = sigma_i (sum_d X_id H_jd + 1) for j <= i; the 1 is the bias, the weight of a constant feature
      each_dot_product<Scalar>(
          count, count, D, query, [&](std::int64_t j, std::int64_t d) { return H[j * D + d]; },
          [&](std::int64_t i, std::int64_t j, Scalar sum) {
            P[i * count + j] = j <= i ? sigma[i] * (b ? sum + Scalar(1) : sum) : Scalar(0);
          });
      // sigma_i (sum_d X_id A_de + a_e), what earlier pieces of the batch have learned
      if (!is_first) {
        each_product<Scalar>(
            count, E, D, query, [&](std::int64_t d, std::int64_t e) { return A[d * E + e]; },
            [&](std::int64_t i, std::int64_t e, Scalar sum) {
              Z[i * E + e] = sigma[i] * (a ? sum + a[e] : sum);
            });
      }
      // Z_ie = sum_d X_id W_de + b_e - sum_{j<=i} P_ij eta_j G_je - that
      each_product<Scalar>(
          count, E, D, query, [&](std::int64_t d, std::int64_t e) { return W[d * E + e]; },
          [&](std::int64_t i, std::int64_t e, Scalar sum) {
            Scalar learned = 0;
            for (std::int64_t j = 0; j <= i; ++j) learned += P[i * count + j] * step[j * E + e];
            sum -= learned;
            if (b) sum += b[e];
            Scalar& Z_ie = Z[i * E + e];
            Z_ie = is_first ? sum : sum - Z_ie;
            if (next) next[i * E + e] = gelu(Z_ie);
          });
    }
    write_outputs();
  }

  /// The factor of the last token.
  __device__ Scalar last_sigma() const { return sigma[count - 1]; }

  /// Z_ie = sum_d x_id W_de + b_e, and for the next layer gelu(Z_ie).
  __device__ void pass_layer(int l, const Scalar* x, const Scalar* W, const Scalar* b, Scalar* Z,
                             Scalar* next) const {
    const std::int64_t D = networks.layer[l].inputs;
    const std::int64_t E = networks.layer[l].outputs;
    each_product<Scalar>(
        count, E, D, [&](std::int64_t i, std::int64_t d) { return x[i * D + d]; },
        [&](std::int64_t d, std::int64_t e) { return W[d * E + e]; },
        [&](std::int64_t i, std::int64_t e, Scalar sum) {
          Z[i * E + e] = b ? sum + b[e] : sum;
          if (next) next[i * E + e] = gelu(Z[i * E + e]);
        });
  }

  /// A matrix, a row and rows of the piece of layer l, of this head.
  __device__ Scalar* matrix(int l, Scalar* all) const {
    return all ? all + head * networks.layer[l].inputs * networks.layer[l].outputs : nullptr;
  }
  __device__ Scalar* row(int l, Scalar* all) const {
    return all ? all + head * networks.layer[l].outputs : nullptr;
  }
  __device__ Scalar* rows(int l, Scalar* all) const {
    return all ? all + head * networks.L * networks.layer[l].outputs : nullptr;
  }

  /// The inputs of layer l for the keys and for the queries: [count, D].
  __device__ const Scalar* inputs(int l) const {
    return l == 0 ? keys : rows(l - 1, networks.layer[l - 1].hidden);
  }
  __device__ const Scalar* queries(int l) const { return l == 0 ? Q : rows(l - 1, networks.layer[l - 1].X); }

  /// G = Y - V, or through the layer norm.
  __device__ void take_output_gradient() const {
    const NetworkLayer<Scalar>& last = networks.layer[networks.layers - 1];
    const Scalar* const Y = rows(networks.layers - 1, last.Z);
    Scalar* const G = rows(networks.layers - 1, last.G);
    if (!networks.gain) {
      each(count * V, [&](std::int64_t i) { G[i] = Y[i] - values[i]; });
      return;
    }
    const Scalar* const gain = networks.gain + head * V;
    const Scalar* const bias = networks.norm_bias + head * V;
    Scalar* const standardised = networks.standardised + head * networks.L * V;
    Scalar* const deviations = networks.deviation + head * networks.L;
    Scalar* const errors = networks.error + head * networks.L * V;
    Scalar* const deltas = networks.delta + head * networks.L * V;
    each_by_warp(count, [&](std::int64_t i, int lane) {
      const Scalar* const y = Y + i * V;
      Scalar* const h = standardised + i * V;
      const auto [mean, deviation] = mean_and_deviation(y);
      if (lane == 0) deviations[i] = deviation;
      // h_c = (y_c - mean) / deviation, e_c = gain_c h_c + bias_c - (v_c - k_c), delta_c = gain_c e_c
      for (std::int64_t c = lane; c < V; c += warp_size) {
        h[c] = (y[c] - mean) / deviation;
        errors[i * V + c] = gain[c] * h[c] + bias[c] - (values[i * V + c] - keys[i * V + c]);
        deltas[i * V + c] = gain[c] * errors[i * V + c];
      }
      // g_c = (delta_c - mean(delta) - h_c mean(delta o h)) / deviation
      const Scalar* const delta = deltas + i * V;
      const Scalar level = warp_sum<Scalar>(V, [&](std::int64_t c) { return delta[c]; }) / Scalar(V);
      const Scalar along = warp_sum<Scalar>(V, [&](std::int64_t c) { return delta[c] * h[c]; }) / Scalar(V);
      for (std::int64_t c = lane; c < V; c += warp_size)
        G[i * V + c] = (delta[c] - level - h[c] * along) / deviation;
    });
  }

  /// o = y, or q + LN(y).
  __device__ void write_outputs() const {
    const Scalar* const Y = rows(networks.layers - 1, networks.layer[networks.layers - 1].Z_q);
    if (!networks.gain) {
      each(count * V, [&](std::int64_t i) { O[i] = Y[i]; });
      return;
    }
    const Scalar* const gain = networks.gain + head * V;
    const Scalar* const bias = networks.norm_bias + head * V;
    each_by_warp(count, [&](std::int64_t i, int lane) {
      const Scalar* const y = Y + i * V;
      const auto [mean, deviation] = mean_and_deviation(y);
      for (std::int64_t c = lane; c < V; c += warp_size)
        O[i * V + c] = Q[i * V + c] + (gain[c] * ((y[c] - mean) / deviation) + bias[c]);
    });
  }

  struct Moments {
    Scalar mean;
    Scalar deviation;  // sqrt(variance + eps)
  };

  /// Of one row, for all lanes of a warp.
  __device__ Moments mean_and_deviation(const Scalar* y) const {
    const Scalar mean = warp_sum<Scalar>(V, [&](std::int64_t c) { return y[c]; }) / Scalar(V);
    const Scalar variance =
        warp_sum<Scalar>(V, [&](std::int64_t c) { return (y[c] - mean) * (y[c] - mean); }) / Scalar(V);
    return {mean, sqrt(variance + networks.eps[head])};
  }
};

__device__ std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

/// Reads and learns; leaves the sums of the batch, and in the primal form the weights of the last token.
template <class Scalar>
__device__ void walk(const NetworkPiece<Scalar>& piece, bool dual) {
  piece.take_gradients();
  if (dual) {
    piece.answer_by_similarity(false);
    piece.add_to_sums();
  } else {
    piece.add_to_sums();
    piece.make_own_weights(piece.last_sigma());
    piece.answer_with_own_weights();
  }
}

/// Takes tokens `first` to `end` - 1 of all heads in pieces of at most L that never cross the end of an inner
/// batch of `batch` tokens; where one ends, also with the last token, the next one's weights are made.
/// `dual`: no token gets weights of its own; else a piece is one token.
template <class Scalar>
__global__ void __launch_bounds__(threads)
    walk_pieces(const Networks<Scalar> networks, bool dual, std::int64_t batch, std::int64_t first,
                std::int64_t end) {
  while (first < end) {
    const std::int64_t batch_end = first - first % batch + batch;
    const std::int64_t next = smaller(smaller(first + networks.L, batch_end), end);
    const NetworkPiece<Scalar> piece{networks, blockIdx.x, first, next - first};
    const bool is_first = first % batch == 0;
    const bool is_last = next == batch_end || next == networks.T;
    if (!dual) {
      walk(piece, dual);
      if (is_last) piece.begin_next_batch();
    } else {
      piece.take_gradients();
      piece.answer_by_similarity(is_first);
      is_last ? piece.end_batch(is_first) : piece.add_to_sums();
    }
    first = next;
  }
}

/// Takes all tokens of all heads as one piece, whose batch goes on.
template <class Scalar>
__global__ void __launch_bounds__(threads) walk_one(const Networks<Scalar> networks, bool dual) {
  walk(NetworkPiece<Scalar>{networks, blockIdx.x, 0, networks.T}, dual);
}

/// The weights of token `token`, W - sigma A, as the batch has been summed up; with `begins_batch` they
/// become the weights of the next batch, whose sums are 0.
template <class Scalar>
__global__ void __launch_bounds__(threads)
    make_own(const Networks<Scalar> networks, std::int64_t token, bool begins_batch) {
  const NetworkPiece<Scalar> piece{networks, blockIdx.x, token, 1};
  piece.make_own_weights(piece.last_sigma());
  if (begins_batch) piece.begin_next_batch();
}

}  // namespace

/// Networks of all heads and their tokens, with room for what a piece makes. What a tap receives of that
/// stands under its names; a piece of the primal form is one token, and its rows are columns there.
template <class Scalar>
class FamilyRun<NetworkRows, Scalar> : public AnyFamily {
 public:
  using Rows = NetworkRows<Scalar>;

  explicit FamilyRun(HeadsOnDevice<NetworkRows, Scalar>& device)
      : device_(device),
        plan_(device.first().network->plan()),
        dual_(device.request.form != Form::recurrent),
        L_(largest_piece(device.request, device.first())) {
    if (plan_.layers() > largest_layer_count)
      throw Error("a network of " + std::to_string(plan_.layers()) +
                  " layers; the CUDA kernels hold at most " + std::to_string(largest_layer_count));
  }

  static double bytes(const EngineRequest& request, const Rows& head, const Carried<Scalar>& carried) {
    const bool dual = request.form != Form::recurrent;
    const auto n = static_cast<double>(pieces_of(request, head).largest_piece());
    double of_parameters = 0;
    double widths = 4 * static_cast<double>(head.V.cols());
    for (const Matrix<Scalar>& parameter : carried) {
      of_parameters += 2 * static_cast<double>(parameter.size());
      widths += 3 * static_cast<double>(parameter.cols());
    }
    const auto of_a_token = static_cast<double>(2 * (head.K.cols() + head.V.cols() + 1));
    return sizeof(Scalar) * (of_parameters + n * widths + (dual ? largest_layer_count * n * n : 0) +
                             static_cast<double>(head.K.rows()) * of_a_token + 1);
  }

  std::vector<Matrix<Scalar>> run() {
    upload();
    if (device_.request.phase)
      take_piece();
    else
      take_pieces();
    return device_.finish();
  }

 private:
  static InnerBatches pieces_of(const EngineRequest& request, const Rows& head) {
    const Index tokens = head.K.rows();
    return {tokens, std::min(head.batch, std::max<Index>(tokens, 1)),
            request.form == Form::recurrent ? 1 : request.chunk_size};
  }

  /// Tokens of a block, or of the largest piece of whole heads.
  static Index largest_piece(const EngineRequest& request, const Rows& head) {
    return request.phase ? head.K.rows() : std::max<Index>(pieces_of(request, head).largest_piece(), 1);
  }

  void upload() {
    DeviceMatrices<Scalar>& keys = device_.rows(&Rows::K);
    DeviceMatrices<Scalar>& values = device_.rows(&Rows::V);
    for (std::size_t p = 0; p < device_.states().front().size(); ++p) carried_.push_back(&device_.state(p));
    networks_ = Networks<Scalar>{.heads = device_.count(),
                                 .T = keys.rows(),
                                 .K = keys.columns(),
                                 .V = values.columns(),
                                 .L = L_,
                                 .Q = device_.rows(&Rows::Q).data(),
                                 .keys = keys.data(),
                                 .values = values.data(),
                                 .eta = device_.upload(&Rows::eta).data(),
                                 .sigma = device_.upload(&Rows::sigma).data(),
                                 .O = device_.outputs(values.rows(), values.columns()).data(),
                                 .layers = static_cast<int>(plan_.layers())};
    const bool has_norm = device_.first().network->norm().has_value();
    for (std::size_t l = 0; l < plan_.layers(); ++l) networks_.layer[l] = make_layer(l, has_norm);
    if (has_norm) upload_norms();
  }

  Scalar* make(std::string_view name, Index rows, Index columns) {
    return device_.make(name, rows, columns).data();
  }

  /// Rows of a piece.
  Scalar* make_rows(const std::string& name, Index columns) {
    return dual_ ? make(capitalised(name), L_, columns) : make(name, columns, L_);
  }

  NetworkLayer<Scalar> make_layer(std::size_t l, bool has_norm) {
    const bool biases = plan_.has_biases();
    const std::size_t weights = biases ? 2 * l : l;
    const std::size_t sums = carried_.size() / 2;
    const Index D = carried_[weights]->rows();
    const Index E = carried_[weights]->columns();
    const bool is_last = l + 1 == plan_.layers();
    NetworkLayer<Scalar> layer = {.inputs = D,
                                  .outputs = E,
                                  .weights = carried_[weights]->data(),
                                  .weights_sum = carried_[sums + weights]->data(),
                                  .own_weights = make("", D, E),
                                  .Z = make_rows(is_last ? "y" : "z", E),
                                  .G = make_rows("g" + plan_.suffix(l), E),
                                  .step = make("", L_, E),
                                  .P = dual_ ? make("P" + plan_.suffix(l), L_, L_) : nullptr};
    if (biases) {
      layer.bias = carried_[weights + 1]->data();
      layer.bias_sum = carried_[sums + weights + 1]->data();
      layer.own_bias = make("", 1, E);
    }
    layer.Z_q = is_last && !has_norm ? make("", L_, E) : make_rows(is_last ? "y_q" : "z_q", E);
    if (is_last) return layer;
    layer.hidden = make_rows("h", E);
    layer.X = make_rows("x", E);
    return layer;
  }

  void upload_norms() {
    const auto upload = [&](auto of) {
      return device_
          .upload([&](const Rows& each) -> Matrix<Scalar> { return std::invoke(of, *each.network->norm()); })
          .data();
    };
    networks_.gain = upload(&LayerNorm<Scalar>::gain);
    networks_.norm_bias = upload(&LayerNorm<Scalar>::bias);
    networks_.eps = upload([](const LayerNorm<Scalar>& norm) -> Matrix<Scalar> {
      return Matrix<Scalar>::Constant(1, 1, norm.eps);
    });
    networks_.standardised = make_rows("y_hat", networks_.V);
    networks_.deviation = make_rows("deviation", 1);
    networks_.error = make_rows("e", networks_.V);
    networks_.delta = make_rows("delta", networks_.V);
  }

  /// One piece of one head.
  void take_piece() {
    if (networks_.T > 0) launch(walk_one<Scalar>, one_each(), networks_, dual_);
    const auto make_last_weights = [&](bool begins_batch) {
      launch(make_own<Scalar>, one_each(), networks_, L_ - 1, begins_batch);
    };
    if (device_.request.tap) {
      make_last_weights(false);  // both ways leave the sums; with them these are the same
      record();
    }
    if (device_.first().ends_batch) make_last_weights(true);
  }

  /// Some pieces at a time, so that a run can be stopped.
  void take_pieces() {
    constexpr Index tokens_between_stops = 1024;
    const InnerBatches pieces = pieces_of(device_.request, device_.first());
    const Index all = pieces.piece_count();
    const Index batch = all > 0 ? pieces.batch_size(0) : 1;
    const Index at_once = std::max<Index>(tokens_between_stops / L_, 1);
    device_.compute([&] {
      device_.in_parts(all, at_once, [&](Index first, Index count) {
        const Index next = first + count;
        launch(walk_pieces<Scalar>, one_each(), networks_, dual_, batch, pieces.piece(first).first,
               next < all ? pieces.piece(next).first : Index{networks_.T});
        await_device();
      });
    });
  }

  Grid one_each() const { return {blocks_for(networks_.heads), threads}; }

  /// Parameters, the sums of their gradients and the last token's own parameters, for the tap.
  void record() const {
    const std::vector<std::string> names = plan_.parameters();
    const Carried<Scalar>& carried = device_.states().front();
    for (std::size_t p = 0; p < names.size(); ++p) {
      const bool is_bias = plan_.has_biases() && p % 2 == 1;
      const NetworkLayer<Scalar>& layer = networks_.layer[plan_.has_biases() ? p / 2 : p];
      const auto record = [&](const std::string& name, const Matrix<Scalar>& value) {
        device_.record(name, is_bias ? Matrix<Scalar>(value.transpose()) : value);
      };
      record(names[p] + "_start", carried[p]);
      record("sum_" + names[p] + device_.before(), carried[names.size() + p]);
      record("sum_" + names[p] + device_.after(), carried_[names.size() + p]->matrix());
      record(names[p] + device_.after(), is_bias
                                             ? downloaded(layer.own_bias, 1, layer.outputs)
                                             : downloaded(layer.own_weights, layer.inputs, layer.outputs));
    }
    device_.record_all();
  }

  HeadsOnDevice<NetworkRows, Scalar>& device_;
  NetworkPlan plan_;
  bool dual_;
  Index L_;
  std::vector<DeviceMatrices<Scalar>*> carried_;
  Networks<Scalar> networks_;
};

PALIMPSEST_CUDA_ENGINES(, NetworkRows);

}  // namespace palimpsest::cuda
