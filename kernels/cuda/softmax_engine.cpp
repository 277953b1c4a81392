#include <fmt/format.h>

#include <algorithm>

#include "kernels/cuda/engine.h"
#include "kernels/cuda/softmax.h"
#include "kernels/cuda/tensor_rows.h"

namespace palimpsest::cuda {

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
    return fmt::format(
        "tf32: the kernel for tensor cores holds up to {} channels; these keys have {}, these values {}",
        most_tensor_core_channels, given.K.cols(), given.V.cols());
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
    all_ = {.heads = q.heads(),
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
    const StreamTap<Scalar> tap = {.x = device_.tapped("x", 1, all_.keys),
                                   .w = device_.tapped("w", 1, all_.keys),
                                   .m = device_.tapped("m", 1),
                                   .l = device_.tapped("l", 1),
                                   .y = device_.tapped("y", all_.V)};
    device_.compute([&] {
      device_.in_parts(all_.queries, at_once, [&](Index first, Index count) {
        Attention<Scalar> some = later_queries(all_, first);
        some.queries = count;
        some.stream(o_.from(0, first), tap);
      });
    });
  }

  /// All weights at once.
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
      heads.make_scores({}, X);
      heads.weigh(X, m, E, l, A, to);
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
      heads.start(state);
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
        tile.make_scores(later, X);
        tile.merge(X, X, later);
      }
      heads.divide(state, to);
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
      tile.make_scores(state, X);
      tile.merge(X, E, state);
      record("X", X, count);
      record("m", state.m, 1);
      record("E", E, count);
      record("l", state.l, 1);
      record("Y", state.Y, all_.V);
    });
    all_.divide(state, o_);
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
