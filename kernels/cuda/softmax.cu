// Causal softmax attention over a cache of keys and values (spec 3.1), written to be read.
//
// Recurrent: a warp takes one query from its own key back to the first. Its lanes share the channels of the
// score and then those of the value; the maximum, the denominator and the numerator are all that it keeps.
// Chunkwise and parallel: a table of scores of all heads and queries with some keys or with all of them; a
// warp turns a row of it into weights; then a product with the values.
//
// Gates fade every key before them (FoX). Their logarithms are added up from the query backwards, so that a
// gate of 0 (-inf) is right: both forms go from the last key to the first, and what has been added up waits
// in `decays` for the next tile.

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/softmax.h"

namespace palimpsest {

namespace {

constexpr int threads = 128;
constexpr int columns_per_lane = 4;  // of the values, in a warp's registers
constexpr int columns_per_warp = warp_size * columns_per_lane;
// Products: a block of side x side threads makes a tile, each of its threads every 16th row and column of it.
constexpr int side = 16;
constexpr int strips = 4;
constexpr int tile = strips * side;

template <class Scalar>
__device__ Scalar minus_infinity() {
  return Scalar(-INFINITY);
}

/// exp(x - m), where a key that is not seen (-inf) weighs nothing whatever m is.
template <class Scalar>
__device__ Scalar weight(Scalar x, Scalar m) {
  return x == minus_infinity<Scalar>() ? Scalar(0) : exp(x - m);
}

/// How many of the keys query i sees.
template <class Scalar>
__device__ std::int64_t keys_seen(const Attention<Scalar>& attention, std::int64_t i) {
  const std::int64_t seen = attention.first_query + i + 1 - attention.first_key;
  return max(std::int64_t{0}, min(seen, attention.keys));
}

/// x_j = q^T k_j + d_j, w_j = exp(x_j - m), o = sum_j w_j v_j / sum_j w_j
template <class Scalar>
__global__ void stream_keys(const Attention<Scalar> attention, const DeviceRows<Scalar> o,
                            const StreamTap<Scalar> tap) {
  const std::int64_t warp = thread_number() / warp_size;
  const int lane = static_cast<int>(threadIdx.x % warp_size);
  const std::int64_t slices = (attention.V + columns_per_warp - 1) / columns_per_warp;
  const std::int64_t slice = warp % slices;
  const std::int64_t i = warp / slices % attention.queries;
  const std::int64_t head = warp / slices / attention.queries;
  if (head >= attention.heads) return;

  const std::int64_t K = attention.K;
  const std::int64_t first_column = slice * columns_per_warp;
  const std::int64_t number = attention.first_query + i;
  const Scalar* const q = attention.q.at(0, head) + i * attention.q.token_stride;
  const Scalar* const bias = attention.bias ? attention.bias + i * attention.keys : nullptr;
  const bool is_tapped = tap.x && slice == 0;

  Scalar m = minus_infinity<Scalar>();
  Scalar l = 0;
  Scalar y[columns_per_lane] = {};
  Scalar decay = 0;
  for (std::int64_t j = keys_seen(attention, i) - 1; j >= 0; --j) {
    // d_j = d_{j+1} + log f_{j+1}; what has been forgotten altogether hides all before it
    const std::int64_t key = attention.first_key + j;
    if (attention.log_gates.data && key < number)
      decay += attention.log_gates.at(0, head)[(key + 1) * attention.log_gates.token_stride];
    if (decay == minus_infinity<Scalar>()) break;

    const Scalar* const k = attention.k.at(0, head) + j * attention.k.token_stride;
    Scalar part = 0;
    for (std::int64_t d = lane; d < K; d += warp_size) part += q[d] * k[d];
    const Scalar x = sum_of_lanes(part) + (bias ? bias[j] : decay);
    if (is_tapped && lane == 0) tap.x[j] = x;

    // what was collected under the old maximum is rescaled to the new one
    const Scalar m_new = max(m, x);
    const Scalar fade = weight(m, m_new);
    const Scalar w = weight(x, m_new);
    const Scalar* const v = attention.v.at(0, head) + j * attention.v.token_stride;
    l = l * fade + w;
    for (int n = 0; n < columns_per_lane; ++n) {
      const std::int64_t c = first_column + n * warp_size + lane;
      if (c < attention.V) y[n] = y[n] * fade + w * v[c];
    }
    m = m_new;
  }

  for (int n = 0; n < columns_per_lane; ++n) {
    const std::int64_t c = first_column + n * warp_size + lane;
    if (c >= attention.V) continue;
    (o.at(0, head) + i * o.token_stride)[c] = y[n] / l;
    if (tap.y) tap.y[c] = y[n];
  }
  if (!is_tapped) return;
  __syncwarp();
  for (std::int64_t j = lane; j < attention.keys; j += warp_size) tap.w[j] = weight(tap.x[j], m);
  if (lane == 0) {
    *tap.m = m;
    *tap.l = l;
  }
}

/// m = -inf, l = 0, Y = 0, and no gate met
template <class Scalar>
__global__ void start_rows(const Attention<Scalar> attention, const PartialSoftmax<Scalar> state) {
  const std::int64_t index = thread_number();
  if (index >= attention.heads * attention.queries * attention.V) return;
  const std::int64_t row = index / attention.V;
  const std::int64_t own = row / attention.queries * state.stride + row % attention.queries;
  state.Y[own * attention.V + index % attention.V] = 0;
  if (index % attention.V != 0) return;
  state.m[own] = minus_infinity<Scalar>();
  state.l[own] = 0;
  state.decays[own] = 0;
}

/// A thread's elements of a tile of a product: every side-th row and column from its own place on.
template <class Scalar>
struct TileSums {
  Scalar sum[strips][strips] = {};

  /// sum_rc += sum_n left(r, n) right(n, c), over `side` terms.
  template <class Left, class Right>
  __device__ void add(Left left, Right right) {
    const int x = static_cast<int>(threadIdx.x);
    const int y = static_cast<int>(threadIdx.y);
    for (int n = 0; n < side; ++n) {
      unrolled<strips, strips>([&](int down, int along) {
        sum[down][along] += left(down * side + y, n) * right(n, along * side + x);
      });
    }
  }

  /// Calls take(i, j, sum_ij) for each, in a tile that begins at (first_i, first_j).
  template <class Take>
  __device__ void each(std::int64_t first_i, std::int64_t first_j, Take take) const {
    const int x = static_cast<int>(threadIdx.x);
    const int y = static_cast<int>(threadIdx.y);
    unrolled<strips, strips>([&](int down, int along) {
      take(first_i + down * side + y, first_j + along * side + x, sum[down][along]);
    });
  }
};

/// X_ij = sum_d Q_id K_jd + bias_ij, or -inf
template <class Scalar>
__global__ void score(const Attention<Scalar> attention, Scalar* X) {
  __shared__ Scalar queries[tile][side + 1];
  __shared__ Scalar keys[tile][side + 1];
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const std::int64_t head = blockIdx.y;
  const std::int64_t tiles = (attention.keys + tile - 1) / tile;
  const std::int64_t first_i = blockIdx.x / tiles * tile;
  const std::int64_t first_j = blockIdx.x % tiles * tile;
  const Scalar* const Q = attention.q.at(0, head);
  const Scalar* const all_keys = attention.k.at(0, head);

  TileSums<Scalar> sums;
  // A tile that no query of this block sees has no products; all threads of the block agree.
  const bool is_seen = first_j < keys_seen(attention, first_i + tile - 1);
  for (std::int64_t first = 0; is_seen && first < attention.K; first += side) {
    const std::int64_t d = first + x;
    unrolled<strips>([&](int strip) {
      const int row = strip * side + y;
      const std::int64_t i = first_i + row;
      const std::int64_t j = first_j + row;
      const bool is_channel = d < attention.K;
      queries[row][x] = is_channel && i < attention.queries ? Q[i * attention.q.token_stride + d] : Scalar(0);
      keys[row][x] =
          is_channel && j < attention.keys ? all_keys[j * attention.k.token_stride + d] : Scalar(0);
    });
    __syncthreads();
    sums.add([&](int row, int n) { return queries[row][n]; },
             [&](int n, int column) { return keys[column][n]; });
    __syncthreads();
  }
  sums.each(first_i, first_j, [&](std::int64_t i, std::int64_t j, Scalar sum) {
    if (i >= attention.queries || j >= attention.keys) return;
    const Scalar bias = attention.bias ? attention.bias[i * attention.keys + j] : Scalar(0);
    X[(head * attention.queries + i) * attention.keys + j] =
        j < keys_seen(attention, i) ? sum + bias : minus_infinity<Scalar>();
  });
}

/// X_ij += log f_{j+1} + .. + log f_i: a thread goes along a row from its last key to the first.
template <class Scalar>
__global__ void add_decays(const Attention<Scalar> attention, const PartialSoftmax<Scalar> state, Scalar* X) {
  const std::int64_t row = thread_number();
  if (row >= attention.heads * attention.queries) return;
  const std::int64_t head = row / attention.queries;
  const std::int64_t i = row % attention.queries;
  const Scalar* const log_f = attention.log_gates.at(0, head);
  Scalar* const carried = state.decays ? state.decays + head * state.stride + i : nullptr;
  Scalar decay = carried ? *carried : Scalar(0);
  for (std::int64_t j = keys_seen(attention, i) - 1; j >= 0; --j) {
    const std::int64_t key = attention.first_key + j;
    if (key < attention.first_query + i) decay += log_f[(key + 1) * attention.log_gates.token_stride];
    X[row * attention.keys + j] += decay;
  }
  if (carried) *carried = decay;
}

/// m <- max(m, max_j X_ij), E_ij = exp(X_ij - m), l <- l exp(m_old - m) + sum_j E_ij
template <class Scalar>
__global__ void merge_rows(const Attention<Scalar> attention, const Scalar* X, Scalar* E,
                           const PartialSoftmax<Scalar> state) {
  const std::int64_t row = thread_number() / warp_size;
  if (row >= attention.heads * attention.queries) return;
  const int lane = static_cast<int>(threadIdx.x % warp_size);
  const std::int64_t own = row / attention.queries * state.stride + row % attention.queries;
  const std::int64_t start = row * attention.keys;
  const Scalar m_old = state.m[own];
  Scalar m = m_old;
  for (std::int64_t j = lane; j < attention.keys; j += warp_size) m = max(m, X[start + j]);
  m = largest_of_lanes(m);
  Scalar sum = 0;
  for (std::int64_t j = lane; j < attention.keys; j += warp_size) {
    const Scalar e = weight(X[start + j], m);
    E[start + j] = e;
    sum += e;
  }
  sum = sum_of_lanes(sum);
  if (lane != 0) return;
  const Scalar fade = weight(m_old, m);
  state.m[own] = m;
  state.fade[own] = fade;
  state.l[own] = state.l[own] * fade + sum;
}

/// m = max_j X_ij, E_ij = exp(X_ij - m), l = sum_j E_ij, A_ij = E_ij / l
template <class Scalar>
__global__ void normalise(const Attention<Scalar> attention, const Scalar* X, Scalar* all_m, Scalar* E,
                          Scalar* all_l, Scalar* A) {
  const std::int64_t row = thread_number() / warp_size;
  if (row >= attention.heads * attention.queries) return;
  const int lane = static_cast<int>(threadIdx.x % warp_size);
  const std::int64_t start = row * attention.keys;
  Scalar m = minus_infinity<Scalar>();
  for (std::int64_t j = lane; j < attention.keys; j += warp_size) m = max(m, X[start + j]);
  m = largest_of_lanes(m);
  Scalar l = 0;
  for (std::int64_t j = lane; j < attention.keys; j += warp_size) {
    const Scalar e = exponential(X[start + j] - m);
    E[start + j] = e;
    l += e;
  }
  l = sum_of_lanes(l);
  for (std::int64_t j = lane; j < attention.keys; j += warp_size) A[start + j] = E[start + j] / l;
  if (lane != 0) return;
  all_m[row] = m;
  all_l[row] = l;
}

/// Y_ic <- Y_ic fade_i + sum_j W_ij V_jc; without `fade` the sum alone
template <class Scalar>
__global__ void weigh_values(const Attention<Scalar> attention, const Scalar* W, const Scalar* fade,
                             std::int64_t fade_stride, const DeviceRows<Scalar> Y) {
  __shared__ Scalar weights[tile][side + 1];
  __shared__ Scalar values[side][tile + 1];
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const std::int64_t head = blockIdx.y;
  const std::int64_t tiles = (attention.V + tile - 1) / tile;
  const std::int64_t first_i = blockIdx.x / tiles * tile;
  const std::int64_t first_c = blockIdx.x % tiles * tile;
  const std::int64_t seen = keys_seen(attention, first_i + tile - 1);  // by any query of this block
  const Scalar* const rows = W + head * attention.queries * attention.keys;
  const Scalar* const V = attention.v.at(0, head);

  TileSums<Scalar> sums;
  for (std::int64_t first = 0; first < seen; first += side) {
    unrolled<strips>([&](int strip) {
      const int other = strip * side;
      const std::int64_t i = first_i + other + y;
      const std::int64_t c = first_c + other + x;
      weights[other + y][x] =
          i < attention.queries && first + x < seen ? rows[i * attention.keys + first + x] : Scalar(0);
      values[y][other + x] =
          first + y < seen && c < attention.V ? V[(first + y) * attention.v.token_stride + c] : Scalar(0);
    });
    __syncthreads();
    sums.add([&](int row, int n) { return weights[row][n]; },
             [&](int n, int column) { return values[n][column]; });
    __syncthreads();
  }
  sums.each(first_i, first_c, [&](std::int64_t i, std::int64_t c, Scalar sum) {
    if (i >= attention.queries || c >= attention.V) return;
    Scalar* const own = Y.at(0, head) + i * Y.token_stride + c;
    const Scalar before = fade ? *own * fade[head * fade_stride + i] : Scalar(0);
    *own = before + sum;
  });
}

/// o_ic = Y_ic / l_i
template <class Scalar>
__global__ void divide_rows(const Attention<Scalar> attention, const PartialSoftmax<Scalar> state,
                            const DeviceRows<Scalar> o) {
  const std::int64_t index = thread_number();
  if (index >= attention.heads * attention.queries * attention.V) return;
  const std::int64_t c = index % attention.V;
  const std::int64_t i = index / attention.V % attention.queries;
  const std::int64_t head = index / attention.V / attention.queries;
  const std::int64_t own = head * state.stride + i;
  o.at(0, head)[i * o.token_stride + c] = state.Y[own * attention.V + c] / state.l[own];
}

/// Blocks of one tile each, of a table of this size for every head.
Grid tiles_of(std::int64_t rows, std::int64_t columns, std::int64_t heads) {
  return {{blocks_for(rows, tile) * blocks_for(columns, tile), blocks_for(heads)}, {side, side}};
}

/// Blocks in which each of so many rows has a warp.
Grid warps_of(std::int64_t rows) { return {blocks_for(rows * warp_size, threads), threads}; }

}  // namespace

template <class Scalar>
void Attention<Scalar>::stream(const DeviceRows<Scalar>& o, const StreamTap<Scalar>& tap) const {
  const std::int64_t slices = blocks_for(V, columns_per_warp);
  launch(stream_keys<Scalar>, warps_of(heads * queries * slices), *this, o, tap);
}

template <class Scalar>
void Attention<Scalar>::start(const PartialSoftmax<Scalar>& state) const {
  launch(start_rows<Scalar>, {blocks_for(heads * queries * V, threads), threads}, *this, state);
}

template <class Scalar>
void Attention<Scalar>::make_scores(const PartialSoftmax<Scalar>& state, Scalar* X) const {
  if (keys == 0) return;
  launch(score<Scalar>, tiles_of(queries, keys, heads), *this, X);
  if (log_gates.data)
    launch(add_decays<Scalar>, {blocks_for(heads * queries, threads), threads}, *this, state, X);
}

template <class Scalar>
void Attention<Scalar>::merge(const Scalar* X, Scalar* E, const PartialSoftmax<Scalar>& state) const {
  launch(merge_rows<Scalar>, warps_of(heads * queries), *this, X, E, state);
  launch(weigh_values<Scalar>, tiles_of(queries, V, heads), *this, E, state.fade, state.stride,
         {.data = state.Y, .token_stride = V, .head_stride = state.stride * V});
}

template <class Scalar>
void Attention<Scalar>::divide(const PartialSoftmax<Scalar>& state, const DeviceRows<Scalar>& o) const {
  launch(divide_rows<Scalar>, {blocks_for(heads * queries * V, threads), threads}, *this, state, o);
}

template <class Scalar>
void Attention<Scalar>::weigh(const Scalar* X, Scalar* m, Scalar* E, Scalar* l, Scalar* A,
                              const DeviceRows<Scalar>& o) const {
  launch(normalise<Scalar>, warps_of(heads * queries), *this, X, m, E, l, A);
  launch(weigh_values<Scalar>, tiles_of(queries, V, heads), *this, A, nullptr, 0, o);
}

template struct Attention<double>;
template struct Attention<float>;

}  // namespace palimpsest
