#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/engines/fast_kernels.h"
#include "kernels/cuda/engine.h"
#include "kernels/cuda/engines.h"
#include "kernels/cuda/hopper/tensor_rows.h"
#include "kernels/cuda/softmax.h"
#include "kernels/cuda/tensor_float/chunks.h"
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
        log_gates_(DeviceMatrices<Scalar>::of_heads(
            heads, [](const CachedQueries<Scalar>& head) { return Matrix<Scalar>(head.log_gates); })),
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

/// One query over all keys that it sees.
template <class Scalar>
Matrix<Scalar> one_stream(const CachedQueries<Scalar>& given, Recorder* recorder, Rounding rounding) {
  const Matrix<Scalar>& V = given.V;
  const Index M = given.K.rows();
  const OneHead<Scalar> head(given.Q, given.K, V, M - 1, 0, given.bias(0, 1), rounding);
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
  return o.matrix();
}

/// One chunk of queries, one tile of keys after the other; a tap receives what the last one makes.
template <class Scalar>
Matrix<Scalar> one_chunk(const CachedQueries<Scalar>& given, Index chunk_size, Recorder* recorder,
                         Rounding rounding) {
  const Index L = given.Q.rows();
  const Index keys = given.K.rows();
  const Matrix<Scalar> bias = given.bias(0, L);
  const SoftmaxState<Scalar> start(L, given.V.cols());
  DeviceMatrices<Scalar> m{Matrix<Scalar>(start.m)}, l{Matrix<Scalar>(start.l)}, Y(start.Y), fade(1, L, 1);
  const PartialSoftmax<Scalar> state = {
      .stride = L, .m = m.data(), .l = l.data(), .Y = Y.data(), .fade = fade.data()};
  for (Index first = 0; first < keys; first += chunk_size) {
    const Index count = std::min(chunk_size, keys - first);
    const OneHead<Scalar> head(given.Q, given.K.middleRows(first, count), given.V.middleRows(first, count),
                               given.first_query, first,
                               given.fades ? Matrix<Scalar>(bias.middleCols(first, count)) : bias, rounding);
    DeviceMatrices<Scalar> X(1, L, count), E(1, L, count);
    const bool records = recorder && first + count == keys;
    if (records) {
      (*recorder)("m_in", m.matrix());
      (*recorder)("l_in", l.matrix());
      (*recorder)("Y_in", Y.matrix());
    }
    softmax_scores(head.attention(), state, X.data());
    softmax_merge<Scalar>(head.attention(), X.data(), E.data(), state);
    if (!records) continue;
    (*recorder)("X", X.matrix());
    (*recorder)("m", m.matrix());
    (*recorder)("E", E.matrix());
    (*recorder)("l", l.matrix());
    (*recorder)("Y", Y.matrix());
  }
  DeviceMatrices<Scalar> o(1, L, given.V.cols());
  softmax_divide<Scalar>({.queries = L, .V = given.V.cols()}, state, o.template view<Scalar>());
  o.round(rounding);
  return o.matrix();
}

/// All weights at once.
template <class Scalar>
Matrix<Scalar> whole_matrix(const CachedQueries<Scalar>& given, Recorder* recorder, Rounding rounding) {
  const Matrix<Scalar>& V = given.V;
  const Index L = given.Q.rows();
  const Index M = given.K.rows();
  if (L == 0) return Matrix<Scalar>(0, V.cols());
  const OneHead<Scalar> head(given.Q, given.K, V, given.first_query, 0, given.bias(0, L), rounding);
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
class SoftmaxEngine : public CudaEngine<CachedQueries, Scalar> {
 public:
  using CudaEngine<CachedQueries, Scalar>::CudaEngine;

  KernelKind kernel(const EngineRequest& request, const CachedQueries<Scalar>& given) const override {
    const bool fits = std::is_same_v<Scalar, float> && !request.phase && request.form == Form::chunkwise &&
                      fits_tensor_cores(given.K.cols(), given.V.cols(), given.fades);
    const bool has =
        rounding_ == Rounding::bf16 ? has_hopper() : rounding_ == Rounding::tf32 && has_tensor_float();
    return fits && has ? KernelKind::tensor_cores : KernelKind::plain;
  }

  std::optional<std::string> missing(const EngineRequest& request,
                                     const CachedQueries<Scalar>& given) const override {
    if (rounding_ != Rounding::tf32 || request.phase || given.Q.rows() == 0 ||
        kernel(request, given) == KernelKind::tensor_cores)
      return std::nullopt;
    return fmt::format(
        "tf32: the kernel for tensor cores holds up to {} channels; these keys have {}, these values {}",
        tensor_float::most_channels, given.K.cols(), given.V.cols());
  }

 private:
  using Base = CudaEngine<CachedQueries, Scalar>;
  using Base::rounding_;

  Matrix<Scalar> step(const EngineRequest& request, const CachedQueries<Scalar>& given,
                      Carried<Scalar>&) const override {
    if (request.form == Form::recurrent) return one_stream(given, request.tap, rounding_);
    if (request.form == Form::chunkwise) return one_chunk(given, request.chunk_size, request.tap, rounding_);
    return whole_matrix(given, request.tap, rounding_);
  }

  typename Base::Outputs run_heads(const EngineRequest& request, typename Base::Heads heads,
                                   typename Base::States) const override {
    AllHeads<Scalar> all(heads, rounding_);
    if (all.attention().queries == 0) return all.outputs();
    if (kernel(request, heads.front()) == KernelKind::tensor_cores) {
      if (rounding_ == Rounding::bf16)
        run_on_tensor_cores(all);
      else
        run_in_tensor_float(all);
    } else if (request.form == Form::recurrent) {
      run_streams(all, request.stop);
    } else if (request.form == Form::parallel) {
      run_whole(all, request.stop);
    } else {
      run_tiles(all, request.chunk_size, request.stop);
    }
    return all.outputs();
  }
};

}  // namespace

template <class Scalar>
OwnedEngine<CachedQueries, Scalar> softmax_engine(Rounding rounding) {
  return std::make_unique<SoftmaxEngine<Scalar>>(rounding);
}

template OwnedEngine<CachedQueries, double> softmax_engine(Rounding);
template OwnedEngine<CachedQueries, float> softmax_engine(Rounding);

}  // namespace palimpsest::cuda
