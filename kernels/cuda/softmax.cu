// Causal softmax attention over a cache of keys and values (spec 3.1), written to be read.
//
// Recurrent: a warp takes one query from its own key back to the first. Its lanes share the channels of the
// score and then those of the value; the maximum, the denominator and the numerator are all that it keeps.
// Chunkwise and parallel: a table of scores of all heads and queries with some keys or with all of them; a
// warp turns a row of it into weights; then a product with the values.
//
// Gates decay every key before them (FoX). Their logarithms are added up from the query backwards, so that a
// gate of 0 (-inf) is right: both forms go from the last key to the first, and `decays` keeps the sums for
// the next tile.

#include "kernels/cuda/engine.h"
#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/row_kernels.h"
#include "kernels/cuda/tile_product.cuh"

namespace palimpsest::cuda {

namespace {

constexpr int threads = 128;
constexpr int columns_per_lane = 4;  // of the values, in a warp's registers
constexpr int columns_per_warp = warp_size * columns_per_lane;

template <class Scalar>
using ScoreTile = Tile<Scalar, 4>;

/// Partial softmax of the queries, each head's `stride` rows after that of the one before.
template <class Scalar>
struct PartialSoftmax {
  std::int64_t stride = 0;
  Scalar* m = nullptr;       // [H, stride] largest score so far
  Scalar* l = nullptr;       // [H, stride] denominator
  Scalar* Y = nullptr;       // [H, stride, V] numerator
  Scalar* fade = nullptr;    // [H, stride] exp(m_old - m): room
  Scalar* decays = nullptr;  // [H, stride] gates met so far, added up; with log_gates
};

/// Further results of one query, only for a trace; null: not needed.
template <class Scalar>
struct StreamTap {
  Scalar* x = nullptr;  // [M]
  Scalar* w = nullptr;  // [M]
  Scalar* m = nullptr;  // [1]
  Scalar* l = nullptr;  // [1]
  Scalar* y = nullptr;  // [V]
};

template <class Scalar>
__device__ Scalar minus_infinity() {
  return Scalar(-INFINITY);
}

/// exp(x - m), where a masked key (-inf) has weight 0 whatever m is.
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
  const Scalar* const q = attention.q.row(head, i);
  const Scalar* const bias = attention.bias ? attention.bias + i * attention.keys : nullptr;
  const bool is_tapped = tap.x && slice == 0;

  Scalar m = minus_infinity<Scalar>();
  Scalar l = 0;
  Scalar y[columns_per_lane] = {};
  Scalar decay = 0;
  for (std::int64_t j = keys_seen(attention, i) - 1; j >= 0; --j) {
    // d_j = d_{j+1} + log f_{j+1}; a gate of 0 removes all keys before it
    const std::int64_t key = attention.first_key + j;
    if (attention.log_gates.data && key < number) decay += *attention.log_gates.row(head, key + 1);
    if (decay == minus_infinity<Scalar>()) break;

    const Scalar* const k = attention.k.row(head, j);
    Scalar part = 0;
    for (std::int64_t d = lane; d < K; d += warp_size) part += q[d] * k[d];
    const Scalar x = sum_of_lanes(part) + (bias ? bias[j] : decay);
    if (is_tapped && lane == 0) tap.x[j] = x;

    // what was collected under the old maximum is rescaled to the new one
    const Scalar m_new = max(m, x);
    const Scalar fade = weight(m, m_new);
    const Scalar w = weight(x, m_new);
    const Scalar* const v = attention.v.row(head, j);
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
    o.row(head, i)[c] = y[n] / l;
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

/// X_ij = sum_d Q_id K_jd + bias_ij, or -inf: a tile a block.
template <class Scalar>
__global__ void __launch_bounds__(ScoreTile<Scalar>::threads)
    score(const Attention<Scalar> attention, Scalar* X) {
  using Tile = ScoreTile<Scalar>;
  __shared__ typename Tile::Room room;
  const std::int64_t head = blockIdx.y;
  const std::int64_t tiles = Tile::tiles_along(attention.keys);
  const std::int64_t first_i = blockIdx.x / tiles * Tile::height;
  const std::int64_t first_j = blockIdx.x % tiles * Tile::columns;
  Tile products(room, attention.queries - first_i, attention.keys - first_j);
  // A tile that no query of this block sees has no products; all threads of the block agree.
  const bool is_seen = first_j < keys_seen(attention, first_i + Tile::height - 1);
  products.template add<Neighbours::along_the_sum, Neighbours::along_the_sum>(
      is_seen ? attention.K : 0, [&](int i, std::int64_t d) { return attention.q.row(head, first_i + i)[d]; },
      [&](std::int64_t d, int j) { return attention.k.row(head, first_j + j)[d]; });
  products.each([&](int own_i, int own_j, Scalar sum) {
    const std::int64_t i = first_i + own_i;
    const std::int64_t j = first_j + own_j;
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
  Scalar* const carried = state.decays ? state.decays + head * state.stride + i : nullptr;
  Scalar decay = carried ? *carried : Scalar(0);
  for (std::int64_t j = keys_seen(attention, i) - 1; j >= 0; --j) {
    const std::int64_t key = attention.first_key + j;
    if (key < attention.first_query + i) decay += *attention.log_gates.row(head, key + 1);
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
__global__ void __launch_bounds__(ScoreTile<Scalar>::threads)
    weigh_values(const Attention<Scalar> attention, const Scalar* W, const Scalar* fade,
                 std::int64_t fade_stride, const DeviceRows<Scalar> Y) {
  using Tile = ScoreTile<Scalar>;
  __shared__ typename Tile::Room room;
  const std::int64_t head = blockIdx.y;
  const std::int64_t tiles = Tile::tiles_along(attention.V);
  const std::int64_t first_i = blockIdx.x / tiles * Tile::height;
  const std::int64_t first_c = blockIdx.x % tiles * Tile::columns;
  const Scalar* const rows = W + (head * attention.queries + first_i) * attention.keys;
  Tile products(room, attention.queries - first_i, attention.V - first_c);
  products.template add<Neighbours::along_the_sum, Neighbours::across_the_sum>(
      keys_seen(attention, first_i + Tile::height - 1),  // by any query of this block
      [&](int i, std::int64_t j) { return rows[i * attention.keys + j]; },
      [&](std::int64_t j, int c) { return attention.v.row(head, j)[first_c + c]; });
  products.each([&](int i, int c, Scalar sum) {
    Scalar* const own = Y.row(head, first_i + i) + first_c + c;
    const Scalar before = fade ? *own * fade[head * fade_stride + first_i + i] : Scalar(0);
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
  o.row(head, i)[c] = state.Y[own * attention.V + c] / state.l[own];
}

/// Blocks of one tile each, of a table of this size for every head.
template <class Scalar>
Grid tiles_of(std::int64_t rows, std::int64_t columns, std::int64_t heads) {
  using Tile = ScoreTile<Scalar>;
  return {{blocks_for(Tile::tiles(rows, columns)), blocks_for(heads)}, Tile::threads};
}

/// Blocks in which each of so many rows has a warp, or each of so many numbers a thread.
Grid warps_of(std::int64_t rows) { return {blocks_for(rows * warp_size, threads), threads}; }
Grid threads_of(std::int64_t numbers) { return {blocks_for(numbers, threads), threads}; }

}  // namespace

template <class Scalar>
class FamilyRun<CachedQueries, Scalar> : public AnyFamily {
 public:
  using Rows = CachedQueries<Scalar>;
  using Outputs = std::vector<Matrix<Scalar>>;

  explicit FamilyRun(HeadsOnDevice<CachedQueries, Scalar>& device)
      : device_(device), request_(device.request) {}

  static KernelKind kernel(const EngineRequest& request, const Rows& given, Rounding rounding) {
    const bool fits = std::is_same_v<Scalar, float> && !request.phase && request.form == Form::chunkwise &&
                      fits_tensor_cores(given.K.cols(), given.V.cols(), given.fades);
    return fits && has_tensor_cores(rounding) ? KernelKind::tensor_cores : KernelKind::plain;
  }

  static std::optional<std::string> missing(const EngineRequest& request, const Rows& given,
                                            Rounding rounding) {
    if (rounding != Rounding::tf32 || request.phase || given.Q.rows() == 0 ||
        kernel(request, given, rounding) == KernelKind::tensor_cores)
      return std::nullopt;
    return "tf32: the kernel for tensor cores holds up to " + std::to_string(most_tensor_core_channels) +
           " channels; these keys have " + std::to_string(given.K.cols()) + ", these values " +
           std::to_string(given.V.cols());
  }

  Outputs run() {
    upload();
    if (all_.queries == 0) return device_.finish();
    if (request_.form == Form::parallel)
      weigh_all();
    else if (request_.form == Form::recurrent)
      stream();
    else if (request_.phase)
      merge_tiles_of_chunk();
    else
      run_chunks();
    device_.record_all();
    Outputs answers = device_.finish();
    if (request_.tap && request_.form == Form::recurrent) device_.record("o", answers.front().transpose());
    if (request_.form == Form::parallel) device_.record("O", answers.front());
    return answers;
  }

 private:
  /// Queries, keys and values of all heads. Gates of whole heads are taken as they are, those of a block as a
  /// bias.
  void upload() {
    DeviceMatrices<Scalar>& q = device_.rows(&Rows::Q);
    DeviceMatrices<Scalar>& k = device_.rows(&Rows::K);
    DeviceMatrices<Scalar>& v = device_.rows(&Rows::V);
    all_ = Attention<Scalar>{.heads = q.heads(),
                             .queries = q.rows(),
                             .keys = k.rows(),
                             .K = k.columns(),
                             .V = v.columns(),
                             .first_query = k.rows() - q.rows(),
                             .q = q,
                             .k = k,
                             .v = v};
    o_ = device_.outputs(all_.queries, all_.V);
    if (!request_.phase) {
      all_.log_gates = device_.upload(&Rows::log_gates);
      return;
    }
    bias_ = device_.first().bias(0, all_.queries);
    if (request_.form != Form::recurrent) all_.first_query = device_.first().first_query;
    if (request_.form != Form::chunkwise && bias_.size() > 0) all_.bias = keep(bias_);
  }

  Scalar* keep(const Matrix<Scalar>& matrix) {
    return device_.keep("", DeviceMatrices<Scalar>(matrix)).data();
  }

  /// Every query over all keys that it sees; a tap receives what the only one of a block makes.
  void stream() {
    constexpr Index at_once = 1024;
    const Index slices = blocks_for(all_.V, columns_per_warp);
    const StreamTap<Scalar> tap = {.x = device_.tapped("x", 1, all_.keys),
                                   .w = device_.tapped("w", 1, all_.keys),
                                   .m = device_.tapped("m", 1),
                                   .l = device_.tapped("l", 1),
                                   .y = device_.tapped("y", all_.V)};
    device_.compute([&] {
      device_.in_parts(all_.queries, at_once, [&](Index first, Index count) {
        Attention<Scalar> some = later_queries(all_, first);
        some.queries = count;
        launch(stream_keys<Scalar>, warps_of(some.heads * count * slices), some, o_.from(0, first), tap);
      });
    });
  }

  void weigh_all() {
    const Index H = heads_at_once(all_.keys);
    const auto make = [&](const char* name, Index columns) {
      return device_.make(name, H, all_.queries, columns).data();
    };
    Scalar* const A = make("A", all_.keys);
    Scalar* const X = request_.tap ? make("X", all_.keys) : A;
    Scalar* const E = request_.tap ? make("E", all_.keys) : A;
    Scalar* const m = make("m", 1);
    Scalar* const l = make("l", 1);
    for_some_heads(H, [&](const Attention<Scalar>& heads, const DeviceRows<Scalar>& to) {
      make_scores(heads, {}, X);
      launch(normalise<Scalar>, warps_of(heads.heads * heads.queries), heads, X, m, E, l, A);
      weigh(heads, A, nullptr, 0, to);
    });
  }

  void run_chunks() {
    if constexpr (std::is_same_v<Scalar, float>) {
      if (kernel(request_, device_.first(), device_.rounding()) == KernelKind::tensor_cores)
        return run_on_tensor_cores(all_, o_, device_.rounding(),
                                   [&](const auto& launches) { device_.compute(launches); });
    }
    merge_tiles();
  }

  /// All chunks of queries at once, one tile of keys after the other, the last first: the gates between a key
  /// and its query add up from the query backwards.
  void merge_tiles() {
    const Index size = request_.chunk_size;
    const Index T = all_.queries;
    const Index width = std::min<Index>(size, all_.keys);
    const Index H = heads_at_once(width);
    const auto make = [&](Index columns) { return device_.make("", H, T, columns).data(); };
    PartialSoftmax<Scalar> state = {
        .stride = T, .m = make(1), .l = make(1), .fade = make(1), .decays = make(1)};
    Scalar* const X = make(width);
    for_some_heads(H, [&](const Attention<Scalar>& heads, const DeviceRows<Scalar>& to) {
      state.Y = to.data;  // until it is divided
      launch(start_rows<Scalar>, threads_of(heads.heads * heads.queries * heads.V), heads, state);
      for (Index first_key = (all_.keys - 1) / size * size; first_key >= 0; first_key -= size) {
        stop_if_asked(request_.stop);
        // The chunks of queries before see none of these keys.
        const Index first = std::max<Index>(first_key - all_.first_query, 0) / size * size;
        const Attention<Scalar> tile =
            some_keys(later_queries(heads, first), first_key, std::min<Index>(size, all_.keys - first_key));
        const PartialSoftmax<Scalar> later = {.stride = T,
                                              .m = state.m + first,
                                              .l = state.l + first,
                                              .Y = state.Y + first * heads.V,
                                              .fade = state.fade + first,
                                              .decays = state.decays + first};
        make_scores(tile, later, X);
        merge(tile, X, X, later);
      }
      divide(heads, state, to);
    });
  }

  /// One chunk of queries, one tile of keys after the other; a tap receives what the last one makes.
  void merge_tiles_of_chunk() {
    const Index L = all_.queries;
    const SoftmaxState<Scalar> start(L, all_.V);
    const PartialSoftmax<Scalar> state = {.stride = L,
                                          .m = keep(start.m),
                                          .l = keep(start.l),
                                          .Y = keep(start.Y),
                                          .fade = device_.make("", L, 1).data()};
    device_.in_parts(all_.keys, request_.chunk_size, [&](Index first, Index count) {
      Attention<Scalar> tile = some_keys(all_, first, count);
      if (bias_.size() > 0) tile.bias = keep(bias_.middleCols(first, count));
      Scalar* const X = device_.make("", L, count).data();
      Scalar* const E = device_.make("", L, count).data();
      const auto record = [&](const char* name, const Scalar* data, Index columns) {
        if (first + count == all_.keys) device_.record(name, data, L, columns);
      };
      record("m_in", state.m, 1);
      record("l_in", state.l, 1);
      record("Y_in", state.Y, all_.V);
      make_scores(tile, state, X);
      merge(tile, X, E, state);
      record("X", X, count);
      record("m", state.m, 1);
      record("E", E, count);
      record("l", state.l, 1);
      record("Y", state.Y, all_.V);
    });
    divide(all_, state, o_);
  }

  /// X = q k^T and what is added to it, -inf where a key is not seen: [H, L, M].
  static void make_scores(const Attention<Scalar>& of, const PartialSoftmax<Scalar>& state, Scalar* X) {
    if (of.keys == 0) return;
    launch(score<Scalar>, tiles_of<Scalar>(of.queries, of.keys, of.heads), of, X);
    if (of.log_gates.data) launch(add_decays<Scalar>, threads_of(of.heads * of.queries), of, state, X);
  }

  /// Merges a tile of keys with these scores into the state. E [H, L, M] receives the weights under the new
  /// maximum; it may be X.
  static void merge(const Attention<Scalar>& tile, const Scalar* X, Scalar* E,
                    const PartialSoftmax<Scalar>& state) {
    launch(merge_rows<Scalar>, warps_of(tile.heads * tile.queries), tile, X, E, state);
    weigh(tile, E, state.fade, state.stride,
          {.data = state.Y, .token_stride = tile.V, .head_stride = state.stride * tile.V});
  }

  static void weigh(const Attention<Scalar>& of, const Scalar* W, const Scalar* fade, Index fade_stride,
                    const DeviceRows<Scalar>& Y) {
    launch(weigh_values<Scalar>, tiles_of<Scalar>(of.queries, of.V, of.heads), of, W, fade, fade_stride, Y);
  }

  /// Y / l: o [H, L, V]; it may be Y.
  static void divide(const Attention<Scalar>& of, const PartialSoftmax<Scalar>& state,
                     const DeviceRows<Scalar>& o) {
    launch(divide_rows<Scalar>, threads_of(of.heads * of.queries * of.V), of, state, o);
  }

  /// Only the queries from row `first` on.
  static Attention<Scalar> later_queries(Attention<Scalar> all, Index first) {
    all.q = all.q.from(0, first);
    all.queries -= first;
    all.first_query += first;
    return all;
  }

  /// Only `count` keys from row `first` on.
  static Attention<Scalar> some_keys(Attention<Scalar> all, Index first, Index count) {
    all.k = all.k.from(0, first);
    all.v = all.v.from(0, first);
    all.first_key += first;
    all.keys = count;
    return all;
  }

  /// Heads at a time, each with a table of all queries and so many keys.
  Index heads_at_once(Index keys) const {
    const double bytes = sizeof(Scalar) * static_cast<double>(all_.queries) * static_cast<double>(keys);
    return fitting(bytes, std::min<Index>(all_.heads, most_grid_blocks));
  }

  /// Computes visit(attention, o) for so many heads after the other.
  template <class Visit>
  void for_some_heads(Index at_once, Visit visit) const {
    device_.compute([&] {
      device_.in_parts(all_.heads, at_once, [&](Index first, Index count) {
        Attention<Scalar> some = all_;
        some.heads = count;
        for (auto* const rows : {&some.q, &some.k, &some.v, &some.log_gates}) *rows = rows->from(first, 0);
        visit(some, o_.from(first, 0));
      });
    });
  }

  HeadsOnDevice<CachedQueries, Scalar>& device_;
  const EngineRequest& request_;
  Attention<Scalar> all_;
  Matrix<Scalar> bias_;  // of a block
  DeviceRows<Scalar> o_;
};

PALIMPSEST_CUDA_ENGINES(, CachedQueries);

}  // namespace palimpsest::cuda
