#include "kernels/cuda/softmax_engines.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/engines/fast_kernels.h"
#include "kernels/cuda/computing.h"
#include "kernels/cuda/head_groups.h"
#include "kernels/cuda/hopper/tensor_rows.h"
#include "kernels/cuda/hopper/tensor_softmax.h"
#include "kernels/cuda/matrices.h"
#include "kernels/cuda/softmax.h"
#include "kernels/cuda/tensor_float/softmax_tiles.h"
#include "kernels/cuda/tensor_float/tensor_float_rows.h"

namespace palimpsest::cuda {

namespace {

/// Some queries of one head, the keys and values that they meet, and a bias, uploaded.
template <class Scalar>
class OneHead {
 public:
  OneHead(const Matrix<Scalar>& Q, const Matrix<Scalar>& K, const Matrix<Scalar>& V, Index first_query,
          Index first_key, const Matrix<Scalar>& bias, Rounding rounding)
      : Q_(Q), K_(K), V_(V), bias_(bias) {
    for (DeviceMatrices<Scalar>* const rows : {&Q_, &K_, &V_}) rows->round(rounding);
    attention_ = {.queries = Q.rows(),
                  .keys = K.rows(),
                  .K = K.cols(),
                  .V = V.cols(),
                  .first_query = first_query,
                  .first_key = first_key,
                  .q = Q_.view(),
                  .k = K_.view(),
                  .v = V_.view(),
                  .bias = bias.size() > 0 ? bias_.data() : nullptr};
  }

  const Attention<Scalar>& attention() const { return attention_; }

 private:
  DeviceMatrices<Scalar> Q_, K_, V_, bias_;
  Attention<Scalar> attention_;
};

/// The caches and queries of all heads, uploaded once, with room for what comes out.
template <class Scalar>
class AllHeads {
 public:
  AllHeads(std::span<const CachedQueries<Scalar>> heads, Rounding rounding)
      : rounding_(rounding),
        Q_(DeviceMatrices<Scalar>::of_heads(heads, &CachedQueries<Scalar>::Q)),
        K_(DeviceMatrices<Scalar>::of_heads(heads, &CachedQueries<Scalar>::K)),
        V_(DeviceMatrices<Scalar>::of_heads(heads, &CachedQueries<Scalar>::V)),
        log_gates_(DeviceMatrices<Scalar>::of_heads(heads, &CachedQueries<Scalar>::log_gates)),
        o_(Q_.heads(), Q_.rows(), V_.columns()) {
    for (DeviceMatrices<Scalar>* const rows : {&Q_, &K_, &V_}) rows->round(rounding);
    attention_ = {.heads = Q_.heads(),
                  .queries = Q_.rows(),
                  .keys = K_.rows(),
                  .K = K_.columns(),
                  .V = V_.columns(),
                  .first_query = K_.rows() - Q_.rows(),
                  .q = Q_.view(),
                  .k = K_.view(),
                  .v = V_.view(),
                  .log_gates = log_gates_.view()};
  }

  const Attention<Scalar>& attention() const { return attention_; }
  DeviceRows<Scalar> o() { return o_.template view<Scalar>(); }
  std::vector<Matrix<Scalar>> outputs() {
    o_.round(rounding_);
    return o_.download();
  }

 private:
  Rounding rounding_;
  DeviceMatrices<Scalar> Q_, K_, V_, log_gates_, o_;
  Attention<Scalar> attention_;
};

/// `all`, but only `count` heads from `first` on.
template <class Scalar>
Attention<Scalar> some_heads(Attention<Scalar> all, Index first, Index count) {
  all.heads = count;
  all.q = all.q.from(first, 0);
  all.k = all.k.from(first, 0);
  all.v = all.v.from(first, 0);
  all.log_gates = all.log_gates.from(first, 0);
  return all;
}

/// `all`, but only the queries from row `first` on.
template <class Scalar>
Attention<Scalar> later_queries(Attention<Scalar> all, Index first) {
  all.q = all.q.from(0, first);
  all.queries -= first;
  all.first_query += first;
  return all;
}

/// `all`, but only `count` keys from row `first` on.
template <class Scalar>
Attention<Scalar> some_keys(Attention<Scalar> all, Index first, Index count) {
  all.k = all.k.from(0, first);
  all.v = all.v.from(0, first);
  all.first_key += first;
  all.keys = count;
  return all;
}

/// Heads at a time, each with a table of so many queries and keys.
template <class Scalar>
Index heads_at_once(Index heads, Index queries, Index keys) {
  const double bytes = sizeof(Scalar) * static_cast<double>(queries) * static_cast<double>(keys);
  return fitting(bytes, std::min<Index>(heads, most_grid_blocks));
}

/// Computes visit(attention, o) for so many heads after the other.
template <class Scalar, class Visit>
void for_some_heads(AllHeads<Scalar>& all, Index at_once, const std::stop_token& stop, Visit visit) {
  const Index heads = all.attention().heads;
  computing<Scalar>({}, [&] {
    for (Index first = 0; first < heads; first += at_once) {
      stop_if_asked(stop);
      visit(some_heads(all.attention(), first, std::min(at_once, heads - first)), all.o().from(first, 0));
    }
  });
}

/// Some queries at a time, so that a run can be stopped.
template <class Scalar>
void run_streams(AllHeads<Scalar>& all, const std::stop_token& stop) {
  constexpr Index at_once = 1024;
  computing<Scalar>({}, [&] {
    for (Index first = 0; first < all.attention().queries; first += at_once) {
      stop_if_asked(stop);
      Attention<Scalar> some = later_queries(all.attention(), first);
      some.queries = std::min<Index>(some.queries, at_once);
      softmax_streams(some, all.o().from(0, first));
    }
  });
}

/// All chunks of queries at once, one tile of keys after the other, the last first: the gates between a key
/// and its query add up from the query backwards.
template <class Scalar>
void run_tiles(AllHeads<Scalar>& all, Index chunk_size, const std::stop_token& stop) {
  const Index T = all.attention().queries;
  const Index keys = all.attention().keys;
  const Index earlier = all.attention().first_query;
  const Index width = std::min(chunk_size, keys);
  const Index H = heads_at_once<Scalar>(all.attention().heads, T, width);
  DeviceMatrices<Scalar> m(1, H, T), l(1, H, T), decays(1, H, T), fade(1, H, T), X(H, T, width);
  for_some_heads(all, H, stop, [&](const Attention<Scalar>& heads, const DeviceRows<Scalar>& o) {
    const PartialSoftmax<Scalar> state = {.stride = T,
                                          .m = m.data(),
                                          .l = l.data(),
                                          .Y = o.data,  // until it is divided
                                          .fade = fade.data(),
                                          .decays = decays.data()};
    softmax_start(heads, state);
    for (Index first_key = (keys - 1) / chunk_size * chunk_size; first_key >= 0; first_key -= chunk_size) {
      stop_if_asked(stop);
      // The chunks of queries before see none of these keys.
      const Index first = std::max<Index>(first_key - earlier, 0) / chunk_size * chunk_size;
      const Attention<Scalar> tile =
          some_keys(later_queries(heads, first), first_key, std::min(chunk_size, keys - first_key));
      const PartialSoftmax<Scalar> later = {.stride = T,
                                            .m = state.m + first,
                                            .l = state.l + first,
                                            .Y = state.Y + first * heads.V,
                                            .fade = state.fade + first,
                                            .decays = state.decays + first};
      softmax_scores(tile, later, X.data());
      softmax_merge<Scalar>(tile, X.data(), X.data(), later);
    }
    softmax_divide(heads, state, o);
  });
}

template <class Scalar>
void run_whole(AllHeads<Scalar>& all, const std::stop_token& stop) {
  const Index T = all.attention().queries;
  const Index keys = all.attention().keys;
  const Index H = heads_at_once<Scalar>(all.attention().heads, T, keys);
  DeviceMatrices<Scalar> A(H, T, keys), m(1, H, T), l(1, H, T);
  for_some_heads(all, H, stop, [&](const Attention<Scalar>& heads, const DeviceRows<Scalar>& o) {
    softmax_scores<Scalar>(heads, {}, A.data());
    softmax_whole<Scalar>(heads, A.data(), m.data(), A.data(), l.data(), A.data(), o);
  });
}

/// In bf16 and tile by tile, where there are tensor cores that can.
template <class Scalar>
bool goes_to_tensor_cores(Form form, Index K, Index V, bool fades, Rounding rounding) {
  return std::is_same_v<Scalar, float> && rounding == Rounding::bf16 && form == Form::chunkwise &&
         fits_tensor_cores(K, V, fades) && has_hopper();
}

/// In tf32, which nothing else computes.
template <class Scalar>
bool goes_to_tensor_float(Form form, Index K, Index V, bool fades, Rounding rounding) {
  return std::is_same_v<Scalar, float> && rounding == Rounding::tf32 && form == Form::chunkwise &&
         fits_tensor_cores(K, V, fades) && has_tensor_float();
}

template <class Scalar>
void run_on_tensor_cores(AllHeads<Scalar>& all) {
  if constexpr (std::is_same_v<Scalar, float>) {
    const TensorSoftmax softmax(all.attention());
    computing<Scalar>({}, [&] { softmax.compute(); });
    softmax.unpack(all.o());
  }
}

template <class Scalar>
void run_in_tensor_float(AllHeads<Scalar>& all) {
  if constexpr (std::is_same_v<Scalar, float>)
    computing<Scalar>({}, [&] { tensor_float::softmax(all.attention(), all.o()); });
}

}  // namespace

template <class Scalar>
RowVector<Scalar> softmax_stream(const RowVector<Scalar>& q, const Matrix<Scalar>& K, const Matrix<Scalar>& V,
                                 Recorder* recorder, const Matrix<Scalar>& bias, Rounding rounding) {
  const Index M = K.rows();
  const OneHead<Scalar> head(Matrix<Scalar>(q), K, V, M - 1, 0, bias, rounding);
  DeviceMatrices<Scalar> o(1, 1, V.cols()), y(1, 1, V.cols()), x(1, 1, M), w(1, 1, M), m(1, 1, 1), l(1, 1, 1);
  StreamTap<Scalar> tap;
  if (recorder) tap = {x.data(), w.data(), m.data(), l.data(), y.data()};
  softmax_streams(head.attention(), o.template view<Scalar>(), tap);
  o.round(rounding);
  if (recorder) {
    (*recorder)("x", x.matrix());
    (*recorder)("m", m.matrix());
    (*recorder)("w", w.matrix());
    (*recorder)("l", l.matrix());
    (*recorder)("y", y.matrix().transpose());
    (*recorder)("o", o.matrix().transpose());
  }
  return o.matrix().row(0);
}

template <class Scalar>
void softmax_tile(const Matrix<Scalar>& Q, const Matrix<Scalar>& K, const Matrix<Scalar>& V,
                  Index first_query, Index first_key, SoftmaxState<Scalar>& state, Recorder* recorder,
                  const Matrix<Scalar>& bias, Rounding rounding) {
  if (recorder) {
    (*recorder)("m_in", state.m);
    (*recorder)("l_in", state.l);
    (*recorder)("Y_in", state.Y);
  }
  const Index L = Q.rows();
  const OneHead<Scalar> head(Q, K, V, first_query, first_key, bias, rounding);
  DeviceMatrices<Scalar> m{Matrix<Scalar>(state.m)}, l{Matrix<Scalar>(state.l)}, Y(state.Y), fade(1, L, 1);
  DeviceMatrices<Scalar> X(1, L, K.rows()), E(1, L, K.rows());
  const PartialSoftmax<Scalar> on_device = {
      .stride = L, .m = m.data(), .l = l.data(), .Y = Y.data(), .fade = fade.data()};
  softmax_scores(head.attention(), on_device, X.data());
  softmax_merge<Scalar>(head.attention(), X.data(), E.data(), on_device);
  state.m = m.matrix().col(0);
  state.l = l.matrix().col(0);
  state.Y = Y.matrix();
  if (recorder) {
    (*recorder)("X", X.matrix());
    (*recorder)("m", state.m);
    (*recorder)("E", E.matrix());
    (*recorder)("l", state.l);
    (*recorder)("Y", state.Y);
  }
}

template <class Scalar>
Matrix<Scalar> softmax_output(const SoftmaxState<Scalar>& state, Rounding rounding) {
  const Index L = state.Y.rows();
  DeviceMatrices<Scalar> l{Matrix<Scalar>(state.l)}, Y(state.Y), o(1, L, state.Y.cols());
  softmax_divide<Scalar>({.queries = L, .V = state.Y.cols()}, {.stride = L, .l = l.data(), .Y = Y.data()},
                         o.template view<Scalar>());
  o.round(rounding);
  return o.matrix();
}

template <class Scalar>
Matrix<Scalar> softmax_dense(const Matrix<Scalar>& Q, const Matrix<Scalar>& K, const Matrix<Scalar>& V,
                             Index first_query, Recorder* recorder, const Matrix<Scalar>& bias,
                             Rounding rounding) {
  const Index L = Q.rows();
  const Index M = K.rows();
  if (L == 0) return Matrix<Scalar>(0, V.cols());
  const OneHead<Scalar> head(Q, K, V, first_query, 0, bias, rounding);
  DeviceMatrices<Scalar> A(1, L, M), m(1, L, 1), l(1, L, 1), O(1, L, V.cols());
  softmax_scores<Scalar>(head.attention(), {}, A.data());
  if (!recorder) {
    softmax_whole<Scalar>(head.attention(), A.data(), m.data(), A.data(), l.data(), A.data(),
                          O.template view<Scalar>());
    O.round(rounding);
    return O.matrix();
  }
  DeviceMatrices<Scalar> X(std::move(A)), E(1, L, M);
  A = DeviceMatrices<Scalar>(1, L, M);
  softmax_whole<Scalar>(head.attention(), X.data(), m.data(), E.data(), l.data(), A.data(),
                        O.template view<Scalar>());
  O.round(rounding);
  (*recorder)("X", X.matrix());
  (*recorder)("m", m.matrix());
  (*recorder)("E", E.matrix());
  (*recorder)("l", l.matrix());
  (*recorder)("A", A.matrix());
  (*recorder)("O", O.matrix());
  return O.matrix();
}

template <class Scalar>
std::vector<Matrix<Scalar>> run_softmax(Form form, std::span<const CachedQueries<Scalar>> heads,
                                        Index chunk_size, const std::stop_token& stop, Rounding rounding) {
  AllHeads<Scalar> all(heads, rounding);
  const Attention<Scalar>& attention = all.attention();
  if (attention.queries == 0) return all.outputs();
  const bool fades = attention.log_gates.data != nullptr;
  if (goes_to_tensor_cores<Scalar>(form, attention.K, attention.V, fades, rounding)) {
    run_on_tensor_cores(all);
  } else if (goes_to_tensor_float<Scalar>(form, attention.K, attention.V, fades, rounding)) {
    run_in_tensor_float(all);
  } else if (rounding == Rounding::tf32) {
    throw Unsupported(fmt::format(
        "tf32: the kernel for tensor cores holds up to {} channels; these keys have {}, these values {}",
        tensor_float::most_channels, attention.K, attention.V));
  } else if (form == Form::recurrent) {
    run_streams(all, stop);
  } else if (form == Form::parallel) {
    run_whole(all, stop);
  } else {
    run_tiles(all, chunk_size, stop);
  }
  return all.outputs();
}

template <class Scalar>
std::string fused_softmax(Form form, Index K, Index V, bool fades, Rounding rounding) {
  if (goes_to_tensor_cores<Scalar>(form, K, V, fades, rounding)) return "one fused kernel on tensor cores";
  if (goes_to_tensor_float<Scalar>(form, K, V, fades, rounding))
    return "one fused kernel on tensor cores in tf32";
  return {};
}

#define PALIMPSEST_INSTANTIATE(Scalar)                                                                       \
  template std::string fused_softmax<Scalar>(Form, Index, Index, bool, Rounding);                            \
  template RowVector<Scalar> softmax_stream(const RowVector<Scalar>&, const Matrix<Scalar>&,                 \
                                            const Matrix<Scalar>&, Recorder*, const Matrix<Scalar>&,         \
                                            Rounding);                                                       \
  template void softmax_tile(const Matrix<Scalar>&, const Matrix<Scalar>&, const Matrix<Scalar>&, Index,     \
                             Index, SoftmaxState<Scalar>&, Recorder*, const Matrix<Scalar>&, Rounding);      \
  template Matrix<Scalar> softmax_output(const SoftmaxState<Scalar>&, Rounding);                             \
  template Matrix<Scalar> softmax_dense(const Matrix<Scalar>&, const Matrix<Scalar>&, const Matrix<Scalar>&, \
                                        Index, Recorder*, const Matrix<Scalar>&, Rounding);                  \
  template std::vector<Matrix<Scalar>> run_softmax(Form, std::span<const CachedQueries<Scalar>>, Index,      \
                                                   const std::stop_token&, Rounding);
PALIMPSEST_INSTANTIATE(double)
PALIMPSEST_INSTANTIATE(float)
#undef PALIMPSEST_INSTANTIATE

}  // namespace palimpsest::cuda
