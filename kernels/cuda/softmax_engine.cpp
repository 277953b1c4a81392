#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/engines/device_engines.h"
#include "kernels/cuda/engine.h"
#include "kernels/cuda/softmax.h"
#include "kernels/cuda/tensor_rows.h"

namespace palimpsest::cuda {

namespace {

/// Queries, keys and values of all heads, uploaded once.
template <class Scalar>
Attention<Scalar> upload(HeadsOnDevice<CachedQueries, Scalar>& device) {
  using Rows = CachedQueries<Scalar>;
  DeviceMatrices<Scalar>& q = device.rows(&Rows::Q);
  DeviceMatrices<Scalar>& k = device.rows(&Rows::K);
  DeviceMatrices<Scalar>& v = device.rows(&Rows::V);
  return {.heads = q.heads(),
          .queries = q.rows(),
          .keys = k.rows(),
          .K = k.columns(),
          .V = v.columns(),
          .first_query = k.rows() - q.rows(),
          .q = q,
          .k = k,
          .v = v};
}

/// The same of one head for a step, whose gates are a bias.
template <class Scalar>
Attention<Scalar> upload_one(HeadsOnDevice<CachedQueries, Scalar>& device, Index first_query) {
  Attention<Scalar> all = upload(device);
  const Matrix<Scalar> bias = device.first().bias(0, all.queries);
  all.first_query = first_query;
  if (bias.size() > 0) all.bias = device.keep("", DeviceMatrices<Scalar>(bias)).data();
  return all;
}

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
Index heads_at_once(const Attention<Scalar>& all, Index keys) {
  const double bytes = sizeof(Scalar) * static_cast<double>(all.queries) * static_cast<double>(keys);
  return fitting(bytes, std::min<Index>(all.heads, most_grid_blocks));
}

/// Computes visit(attention, o) for so many heads after the other.
template <class Scalar, class Visit>
void for_some_heads(HeadsOnDevice<CachedQueries, Scalar>& device, const Attention<Scalar>& all,
                    const DeviceRows<Scalar>& o, Index at_once, const std::stop_token& stop, Visit visit) {
  device.compute([&] {
    for (Index first = 0; first < all.heads; first += at_once) {
      stop_if_asked(stop);
      visit(some_heads(all, first, std::min<Index>(at_once, all.heads - first)), o.from(first, 0));
    }
  });
}

/// Some queries at a time, so that a run can be stopped.
template <class Scalar>
void run_streams(HeadsOnDevice<CachedQueries, Scalar>& device, const Attention<Scalar>& all,
                 const DeviceRows<Scalar>& o, const std::stop_token& stop) {
  constexpr Index at_once = 1024;
  device.compute([&] {
    for (Index first = 0; first < all.queries; first += at_once) {
      stop_if_asked(stop);
      Attention<Scalar> some = later_queries(all, first);
      some.queries = std::min<Index>(some.queries, at_once);
      some.stream(o.from(0, first));
    }
  });
}

/// All chunks of queries at once, one tile of keys after the other, the last first: the gates between a key
/// and its query add up from the query backwards.
template <class Scalar>
void run_tiles(HeadsOnDevice<CachedQueries, Scalar>& device, const Attention<Scalar>& all,
               const DeviceRows<Scalar>& o, Index chunk_size, const std::stop_token& stop) {
  const Index T = all.queries;
  const Index width = std::min<Index>(chunk_size, all.keys);
  const Index H = heads_at_once(all, width);
  const auto make = [&](Index columns) { return device.make("", H, T, columns).data(); };
  PartialSoftmax<Scalar> state = {
      .stride = T, .m = make(1), .l = make(1), .fade = make(1), .decays = make(1)};
  Scalar* const X = make(width);
  for_some_heads(device, all, o, H, stop, [&](const Attention<Scalar>& heads, const DeviceRows<Scalar>& to) {
    state.Y = to.data;  // until it is divided
    heads.start(state);
    for (Index first_key = (all.keys - 1) / chunk_size * chunk_size; first_key >= 0;
         first_key -= chunk_size) {
      stop_if_asked(stop);
      // The chunks of queries before see none of these keys.
      const Index first = std::max<Index>(first_key - all.first_query, 0) / chunk_size * chunk_size;
      const Attention<Scalar> tile = some_keys(later_queries(heads, first), first_key,
                                               std::min<Index>(chunk_size, all.keys - first_key));
      const PartialSoftmax<Scalar> later = {.stride = T,
                                            .m = state.m + first,
                                            .l = state.l + first,
                                            .Y = state.Y + first * heads.V,
                                            .fade = state.fade + first,
                                            .decays = state.decays + first};
      tile.make_scores(later, X);
      tile.merge(X, X, later);
    }
    heads.divide(state, to);
  });
}

template <class Scalar>
void run_whole(HeadsOnDevice<CachedQueries, Scalar>& device, const Attention<Scalar>& all,
               const DeviceRows<Scalar>& o, const std::stop_token& stop) {
  const Index H = heads_at_once(all, all.keys);
  Scalar* const A = device.make("", H, all.queries, all.keys).data();
  Scalar* const m = device.make("", H, all.queries, 1).data();
  Scalar* const l = device.make("", H, all.queries, 1).data();
  for_some_heads(device, all, o, H, stop, [&](const Attention<Scalar>& heads, const DeviceRows<Scalar>& to) {
    heads.make_scores({}, A);
    heads.weigh(A, m, A, l, A, to);
  });
}

template <class Scalar>
void run_on_tensor_cores(HeadsOnDevice<CachedQueries, Scalar>& device, const Attention<Scalar>& all,
                         const DeviceRows<Scalar>& o, Rounding rounding) {
  if constexpr (std::is_same_v<Scalar, float>) {
    if (rounding == Rounding::tf32) return device.compute([&] { tensor_float::softmax(all, o); });
    const TensorSoftmax softmax(all);
    device.compute([&] { softmax.compute(); });
    softmax.unpack(o);
  }
}

/// One query over all keys that it sees.
template <class Scalar>
Matrix<Scalar> one_stream(const CachedQueries<Scalar>& given, Recorder* recorder, Rounding rounding) {
  const Index M = given.K.rows();
  HeadsOnDevice<CachedQueries, Scalar> device({&given, 1}, {}, rounding, recorder);
  const Attention<Scalar> attention = upload_one(device, M - 1);
  attention.stream(device.outputs(1, attention.V), {.x = device.tapped("x", 1, M),
                                                    .w = device.tapped("w", 1, M),
                                                    .m = device.tapped("m", 1),
                                                    .l = device.tapped("l", 1),
                                                    .y = device.tapped("y", attention.V)});
  device.record();
  const Matrix<Scalar> o = device.finish().front();
  if (recorder) (*recorder)("o", o.transpose());
  return o;
}

/// One chunk of queries, one tile of keys after the other; a tap receives what the last one makes.
template <class Scalar>
Matrix<Scalar> one_chunk(const CachedQueries<Scalar>& given, Index chunk_size, Recorder* recorder,
                         Rounding rounding) {
  const Index L = given.Q.rows();
  const Index V = given.V.cols();
  const Index keys = given.K.rows();
  const Matrix<Scalar> bias = given.bias(0, L);
  const SoftmaxState<Scalar> start(L, V);
  HeadsOnDevice<CachedQueries, Scalar> device({&given, 1}, {}, rounding, recorder);
  const Attention<Scalar> all = upload(device);
  const auto keep = [&](const Matrix<Scalar>& matrix) {
    return device.keep("", DeviceMatrices<Scalar>(matrix)).data();
  };
  const PartialSoftmax<Scalar> state = {.stride = L,
                                        .m = keep(start.m),
                                        .l = keep(start.l),
                                        .Y = keep(start.Y),
                                        .fade = device.make("", L, 1).data()};
  for (Index first = 0; first < keys; first += chunk_size) {
    const Index count = std::min(chunk_size, keys - first);
    Attention<Scalar> tile = some_keys(all, first, count);
    tile.first_query = given.first_query;
    if (bias.size() > 0) tile.bias = keep(bias.middleCols(first, count));
    Scalar* const X = device.make("", L, count).data();
    Scalar* const E = device.make("", L, count).data();
    const auto record = [&](const char* name, const Scalar* data, Index columns) {
      if (recorder && first + count == keys) (*recorder)(name, downloaded(data, L, columns));
    };
    record("m_in", state.m, 1);
    record("l_in", state.l, 1);
    record("Y_in", state.Y, V);
    tile.make_scores(state, X);
    tile.merge(X, E, state);
    record("X", X, count);
    record("m", state.m, 1);
    record("E", E, count);
    record("l", state.l, 1);
    record("Y", state.Y, V);
  }
  all.divide(state, device.outputs(L, V));
  return device.finish().front();
}

/// All weights at once.
template <class Scalar>
Matrix<Scalar> whole_matrix(const CachedQueries<Scalar>& given, Recorder* recorder, Rounding rounding) {
  const Index L = given.Q.rows();
  const Index M = given.K.rows();
  if (L == 0) return Matrix<Scalar>(0, given.V.cols());
  HeadsOnDevice<CachedQueries, Scalar> device({&given, 1}, {}, rounding, recorder);
  const Attention<Scalar> attention = upload_one(device, given.first_query);
  Scalar* const A = device.make("A", L, M).data();
  Scalar* const X = recorder ? device.tapped("X", L, M) : A;
  Scalar* const E = recorder ? device.tapped("E", L, M) : A;
  attention.make_scores({}, X);
  attention.weigh(X, device.make("m", L, 1).data(), E, device.make("l", L, 1).data(), A,
                  device.outputs(L, attention.V));
  device.record();
  const Matrix<Scalar> o = device.finish().front();
  if (recorder) (*recorder)("O", o);
  return o;
}

}  // namespace

template <class Scalar>
class FamilyEngine<CachedQueries, Scalar> : public CudaEngine<CachedQueries, Scalar> {
 public:
  using Base = CudaEngine<CachedQueries, Scalar>;
  using Base::Base;

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
  using Base::rounding_;

  Matrix<Scalar> step(const EngineRequest& request, const CachedQueries<Scalar>& given,
                      Carried<Scalar>&) const override {
    if (request.form == Form::recurrent) return one_stream(given, request.tap, rounding_);
    if (request.form == Form::chunkwise) return one_chunk(given, request.chunk_size, request.tap, rounding_);
    return whole_matrix(given, request.tap, rounding_);
  }

  typename Base::Outputs run_heads(const EngineRequest& request, typename Base::Heads heads,
                                   typename Base::States states) const override {
    typename Base::OnDevice device(heads, states, rounding_);
    Attention<Scalar> all = upload(device);
    all.log_gates = device.upload(&CachedQueries<Scalar>::log_gates);
    const DeviceRows<Scalar> o = device.outputs(all.queries, all.V);
    if (all.queries == 0) return device.finish();
    if (kernel(request, heads.front()) == KernelKind::tensor_cores) {
      run_on_tensor_cores(device, all, o, rounding_);
    } else if (request.form == Form::recurrent) {
      run_streams(device, all, o, request.stop);
    } else if (request.form == Form::parallel) {
      run_whole(device, all, o, request.stop);
    } else {
      run_tiles(device, all, o, request.chunk_size, request.stop);
    }
    return device.finish();
  }
};

template OwnedEngine<CachedQueries, double> make_engine(Rounding);
template OwnedEngine<CachedQueries, float> make_engine(Rounding);

}  // namespace palimpsest::cuda
