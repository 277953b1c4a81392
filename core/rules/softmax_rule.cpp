#include "core/rules/softmax_rule.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/parallel_for.h"
#include "core/base/stop.h"
#include "core/costs/costs.h"
#include "core/engines/engines.h"
#include "core/engines/softmax.h"
#include "core/operator/channel.h"
#include "core/rules/effective_attention.h"

namespace palimpsest {

namespace {

template <class Scalar>
std::vector<Output> run_softmax(std::span<const Sequence> heads, const KeyFading& fading,
                                const EngineRequest& request, const Engine<CachedQueries, Scalar>& engine) {
  std::vector<CachedQueries<Scalar>> queries(heads.size());
  std::vector<Output> outputs = made_in_parallel(heads.size(), request.stop, [&](std::size_t h) -> Output {
    const KeyValueCache<Scalar> cache(heads[h], fading);
    queries[h] = cache.queries(heads[h], {.count = heads[h].tokens}, cache.K.rows());
    return {{}, cache.states(fading)};
  });
  std::vector<Carried<Scalar>> nothing(heads.size());
  const std::vector<Matrix<Scalar>> o = engine.run(request, queries, nothing).o;
  stop_if_asked(request.stop);
  parallel_for(static_cast<Index>(heads.size()), processor_threads(), [&](Index index) {
    const auto h = static_cast<std::size_t>(index);
    outputs[h].o = o[h].template cast<double>();
  });
  return outputs;
}

/// The weights of the queries of tokens first .. first+count-1 on the earlier cache and every key up to
/// them, or on all keys: [count, keys].
Matrix<double> weights_of(const Sequence& sequence, const KeyValueCache<double>& cache, Index first,
                          Index count, bool no_mask) {
  const Index keys = cache.earlier + (no_mask ? sequence.tokens : first + count);
  const Matrix<double> Q = sequence.at("q").rows<double>(first, count) * sequence.parameter("scale");
  Record record;
  Recorder recorder(record);
  softmax_dense<double>(Q, cache.K.topRows(keys), Matrix<double>(keys, 0),
                        no_mask ? keys - 1 : cache.earlier + first, &recorder,
                        no_mask ? Matrix<double>() : cache.bias(first, count));
  return record.at("A");
}

/// The weights of the window's rows on every key that they see; those of the earlier cache are the share of
/// the initial state, S_0 = initial_v_cache.
EffectiveAttention softmax_weights(const Sequence& sequence, const KeyFading& fading,
                                   const AttentionWindow& window, const std::stop_token& stop) {
  if (window.no_mask && fading)
    throw Unsupported("Without its mask a gate would have to say how much of a later token is left.");
  const KeyValueCache<double> cache(sequence, fading);
  const Index p = cache.earlier;
  EffectiveAttention attention{.A = Matrix<double>::Zero(window.rows, window.columns)};
  if (window.initial) attention.Q0 = Matrix<double>::Zero(window.rows, p);
  // Rows that follow each other are one product; of others each sees keys that the one before does not.
  const Index together = window.row_step == 1 ? window.rows : 1;
  for (Index row = 0; row < window.rows; row += together) {
    stop_if_asked(stop);
    const Matrix<double> A = weights_of(sequence, cache, window.token(row), together, window.no_mask);
    const Index seen = std::clamp<Index>(A.cols() - p - window.first_column, 0, window.columns);
    if (seen > 0) attention.A.block(row, 0, together, seen) = A.middleCols(p + window.first_column, seen);
    if (window.initial) attention.Q0.middleRows(row, together) = A.leftCols(p);
  }
  return attention;
}

/// Not a row program: its memory is the list of all keys and values.
class SoftmaxRule : public Rule {
 public:
  explicit SoftmaxRule(KeyFading fading) : fading_(std::move(fading)) {}

  std::optional<std::string> missing(Form form, const Settings&) const override {
    if (form != Form::two_pass) return std::nullopt;
    return "There is no memory that a first pass could make: every query looks at the keys themselves.";
  }

  Output run(const Sequence& sequence, Form form, Precision precision, Index chunk_size, std::stop_token stop,
             const DeviceEngines& engines) const override {
    return std::move(
        run_heads({&sequence, 1}, form, precision, chunk_size, std::move(stop), engines).front());
  }

  std::vector<Output> run_heads(std::span<const Sequence> heads, Form form, Precision precision,
                                Index chunk_size, std::stop_token stop,
                                const DeviceEngines& engines) const override {
    if (heads.empty()) return {};
    const Sequence& first = heads.front();
    require_form(form, first.settings, chunk_size);
    require_footprint(footprint(first, form, precision, chunk_size), first, form, chunk_size);
    const EngineRequest request = {.form = form, .chunk_size = chunk_size, .stop = std::move(stop)};
    return engines.with(precision,
                        [&](const auto& all) { return run_softmax(heads, fading_, request, all.softmax); });
  }

  KernelKind kernel(const Sequence& sequence, Form form, Precision precision,
                    const DeviceEngines& engines) const override {
    return engines.with(precision, [&]<class Scalar>(const Engines<Scalar>& of_scalar) {
      const CachedQueries<Scalar> sizes = {.Q = Matrix<Scalar>(0, sequence.dk),
                                           .K = Matrix<Scalar>(0, sequence.dk),
                                           .V = Matrix<Scalar>(0, sequence.dv),
                                           .fades = static_cast<bool>(fading_)};
      return of_scalar.softmax.kernel({.form = form}, sizes);
    });
  }

  std::optional<NamedStates> cache_after(const Sequence& sequence, Index tokens) const override {
    const KeyValueCache<double> cache(sequence, fading_);
    NamedStates states = cache.states(fading_);
    for (auto& [name, rows] : states) rows = Matrix<double>(rows.topRows(cache.earlier + tokens));
    return states;
  }

  Footprint footprint(const Sequence& sequence, Form form, Precision precision,
                      Index chunk_size) const override {
    const Index T = sequence.tokens;
    const Index keys = T + (sequence.has("initial_k_cache") ? sequence.at("initial_k_cache").rows() : 0);
    const auto size = [](Index rows, Index columns) {
      return static_cast<double>(rows) * static_cast<double>(columns);
    };
    const double weights = form == Form::parallel ? size(T, keys)
                           : form == Form::chunkwise
                               ? size(std::min(chunk_size, T), std::min(chunk_size, keys))
                               : 0;
    // The bias of a block of queries on all keys that they see.
    const Index queries = form == Form::parallel ? T : form == Form::chunkwise ? std::min(chunk_size, T) : 1;
    const double bias = fading_ ? size(queries, keys) : 0;
    const double rows = size(keys, sequence.dk) + size(keys, sequence.dv);  // queries, keys, values, outputs
    const double number = precision == Precision::f64 ? 8 : 4;
    const double gates = fading_ ? static_cast<double>(keys) : 0;  // in the cache
    return {.work = number * (weights + bias + 4 * rows), .kept = 8 * (rows + gates + size(T, sequence.dv))};
  }

  std::optional<Work> cost(const Sequence& sequence, Form form, Index chunk_size) const override {
    require_form(form, sequence.settings, chunk_size);
    return softmax_cost(sequence, form, chunk_size, static_cast<bool>(fading_));
  }

  std::unique_ptr<Trace> trace(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                               std::size_t, const DeviceEngines& engines) const override {
    require_form(form, sequence.settings, chunk_size);
    return make_softmax_trace(sequence, fading_, form, precision, chunk_size, engines);
  }

  Channel channel(const Sequence&, Index) const override {
    throw Unsupported(
        "Softmax attention keeps every key and value as it came: there is no memory in which tokens share an "
        "entry, and no value fades or is erased.");
  }

  EffectiveAttention effective_attention(const Sequence& sequence, const AttentionWindow& window,
                                         std::stop_token stop) const override {
    require_window(window, sequence.tokens, sequence.dv);
    return softmax_weights(sequence, fading_, window, stop);
  }

 private:
  KeyFading fading_;
};

}  // namespace

std::function<Matrix<double>(const Sequence&, const NamedStates&, const Matrix<double>&)> cache_answers() {
  return
      [](const Sequence& sequence, const NamedStates& states, const Matrix<double>& keys) -> Matrix<double> {
        const Matrix<double>& K = states[0].second;
        const Matrix<double>& V = states[1].second;
        if (K.rows() == 0) return Matrix<double>::Zero(keys.rows(), V.cols());
        Matrix<double> bias;
        if (states.size() > 2) {
          const Vector<double> log_gates = states[2].second;
          bias = log_decays(log_gates, K.rows() - 1, 1).replicate(keys.rows(), 1);
        }
        // No key is later than the first query: all see the whole cache.
        return softmax_dense<double>(keys * sequence.parameter("scale"), K, V, K.rows() - 1, nullptr, bias);
      };
}

std::shared_ptr<const Rule> softmax_rule(KeyFading fading) {
  return std::make_shared<SoftmaxRule>(std::move(fading));
}

}  // namespace palimpsest
