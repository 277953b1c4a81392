// Memories that are networks, written to be read (spec 3.10, 3.12).
//
// A piece needs the weights that the piece before it left: a block takes one head from its first token to its
// last. Its threads share every matrix of a piece, an element each, and wait for each other after it. The
// matrices lie in device memory, where a trace finds them after a piece.

#include "core/numbers/gelu_constants.h"
#include "kernels/cuda/block.cuh"
#include "kernels/cuda/network.h"

namespace palimpsest {

namespace {

constexpr int threads = 512;

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

/// A piece of one head: its rows, and where its matrices lie.
template <class Scalar>
struct Piece {
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
      each(count, D, [&](std::int64_t i, std::int64_t d) {
        Scalar sum = 0;
        for (std::int64_t e = 0; e < E; ++e) sum += G[i * E + e] * W[d * E + e];
        G_below[i * D + d] = sum * gelu_derivative(Z[i * D + d]);
      });
    }
  }

  /// A_de += sum_i H_id eta_i G_ie, and for a bias sum_i eta_i G_ie
  __device__ void add_to_sums() const {
    for (int l = 0; l < networks.layers; ++l) {
      const std::int64_t D = networks.layer[l].inputs;
      const std::int64_t E = networks.layer[l].outputs;
      const Scalar* const H = inputs(l);
      const Scalar* const step = rows(l, networks.layer[l].step);
      Scalar* const A = matrix(l, networks.layer[l].weights_sum);
      Scalar* const a = row(l, networks.layer[l].bias_sum);
      each(D, E, [&](std::int64_t d, std::int64_t e) {
        Scalar sum = 0;
        for (std::int64_t i = 0; i < count; ++i) sum += H[i * D + d] * step[i * E + e];
        A[d * E + e] += sum;
      });
      each(a ? E : 0, [&](std::int64_t e) {
        Scalar sum = 0;
        for (std::int64_t i = 0; i < count; ++i) sum += step[i * E + e];
        a[e] += sum;
      });
    }
  }

  /// W - s A, for weights and biases.
  __device__ void make_own_weights(Scalar s) const {
    for (int l = 0; l < networks.layers; ++l) {
      const NetworkLayer<Scalar>& layer = networks.layer[l];
      const Scalar* const W = matrix(l, layer.weights);
      const Scalar* const A = matrix(l, layer.weights_sum);
      Scalar* const own = matrix(l, layer.own_weights);
      each(layer.inputs * layer.outputs, [&](std::int64_t i) { own[i] = W[i] - s * A[i]; });
      const Scalar* const b = row(l, layer.bias);
      const Scalar* const a = row(l, layer.bias_sum);
      Scalar* const own_bias = row(l, layer.own_bias);
      each(b ? layer.outputs : 0, [&](std::int64_t e) { own_bias[e] = b[e] - s * a[e]; });
    }
  }

  /// The next batch: W <- W_own, A <- 0.
  __device__ void begin_next_batch() const {
    for (int l = 0; l < networks.layers; ++l) {
      const NetworkLayer<Scalar>& layer = networks.layer[l];
      const auto begin = [&](Scalar* W, Scalar* A, const Scalar* own, std::int64_t size) {
        each(W ? size : 0, [&](std::int64_t i) {
          W[i] = own[i];
          A[i] = 0;
        });
      };
      begin(matrix(l, layer.weights), matrix(l, layer.weights_sum), matrix(l, layer.own_weights),
            layer.inputs * layer.outputs);
      begin(row(l, layer.bias), row(l, layer.bias_sum), row(l, layer.own_bias), layer.outputs);
    }
  }

  /// What the network with the token's own weights answers.
  __device__ void answer_with_own_weights() const {
    for (int l = 0; l < networks.layers; ++l) {
      const auto& layer = networks.layer[l];
      pass_layer(l, queries(l), matrix(l, layer.own_weights), row(l, layer.own_bias), rows(l, layer.Z_q),
                 rows(l, layer.X));
    }
    write_outputs();
  }

  /// The same answers without anyone's own weights: what token j adds for token i is P_ij times its gradient.
  __device__ void answer_by_similarity() const {
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
      // P_ij = sigma_i (sum_d X_id H_jd + 1) for j <= i; the 1 is the bias, the weight of a constant feature
      each(count, count, [&](std::int64_t i, std::int64_t j) {
        Scalar sum = 0;
        for (std::int64_t d = 0; d < D && j <= i; ++d) sum += X[i * D + d] * H[j * D + d];
        P[i * count + j] = j <= i ? sigma[i] * (b ? sum + Scalar(1) : sum) : Scalar(0);
      });
      // Z_ie = sum_d X_id W_de + b_e - sum_{j<=i} P_ij eta_j G_je - sigma_i (sum_d X_id A_de + a_e)
      each(count, E, [&](std::int64_t i, std::int64_t e) {
        Scalar sum = 0;
        Scalar earlier = 0;
        for (std::int64_t d = 0; d < D; ++d) {
          sum += X[i * D + d] * W[d * E + e];
          earlier += X[i * D + d] * A[d * E + e];
        }
        Scalar learned = 0;
        for (std::int64_t j = 0; j <= i; ++j) learned += P[i * count + j] * step[j * E + e];
        sum -= learned;
        if (b) sum += b[e];
        if (b) earlier += a[e];
        Z[i * E + e] = sum - sigma[i] * earlier;
        if (next) next[i * E + e] = gelu(Z[i * E + e]);
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
    each(count, E, [&](std::int64_t i, std::int64_t e) {
      Scalar sum = 0;
      for (std::int64_t d = 0; d < D; ++d) sum += x[i * D + d] * W[d * E + e];
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

  /// What layer l is given of the keys and of the queries: [count, D].
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
__device__ void walk(const Piece<Scalar>& piece, bool dual) {
  piece.take_gradients();
  if (dual) {
    piece.answer_by_similarity();
    piece.add_to_sums();
  } else {
    piece.add_to_sums();
    piece.make_own_weights(piece.last_sigma());
    piece.answer_with_own_weights();
  }
}

template <class Scalar>
__global__ void __launch_bounds__(threads)
    walk_pieces(const Networks<Scalar> networks, bool dual, std::int64_t batch, std::int64_t first,
                std::int64_t end) {
  while (first < end) {
    const std::int64_t batch_end = first - first % batch + batch;
    const std::int64_t next = smaller(smaller(first + networks.L, batch_end), end);
    const Piece<Scalar> piece{networks, blockIdx.x, first, next - first};
    walk(piece, dual);
    if (next == batch_end || next == networks.T) {
      if (dual) piece.make_own_weights(piece.last_sigma());
      piece.begin_next_batch();
    }
    first = next;
  }
}

template <class Scalar>
__global__ void __launch_bounds__(threads) walk_one(const Networks<Scalar> networks, bool dual) {
  walk(Piece<Scalar>{networks, blockIdx.x, 0, networks.T}, dual);
}

template <class Scalar>
__global__ void __launch_bounds__(threads)
    make_own(const Networks<Scalar> networks, std::int64_t token, bool begins_batch) {
  const Piece<Scalar> piece{networks, blockIdx.x, token, 1};
  piece.make_own_weights(piece.last_sigma());
  if (begins_batch) piece.begin_next_batch();
}

}  // namespace

template <class Scalar>
void Networks<Scalar>::walk(bool dual, std::int64_t batch, std::int64_t first, std::int64_t end) const {
  if (first < end) launch(walk_pieces<Scalar>, {blocks_for(heads), threads}, *this, dual, batch, first, end);
}

template <class Scalar>
void Networks<Scalar>::walk_piece(bool dual) const {
  if (T > 0) launch(walk_one<Scalar>, {blocks_for(heads), threads}, *this, dual);
}

template <class Scalar>
void Networks<Scalar>::make_own_weights(std::int64_t token, bool begins_batch) const {
  launch(make_own<Scalar>, {blocks_for(heads), threads}, *this, token, begins_batch);
}

template struct Networks<double>;
template struct Networks<float>;

}  // namespace palimpsest
