#include "core/costs/costs.h"
#include "core/engines/engines.h"
#include "core/engines/walk.h"
#include "core/rules/effective_attention.h"
#include "core/rules/rule.h"
#include "core/steps/phase.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

/// The keys and values that a causal softmax sees, the earlier cache first, and their decay gates.
template <class Scalar>
struct KeyValueCache {
  Matrix<Scalar> K;          // [p + T, K]
  Matrix<Scalar> V;          // [p + T, V]
  Vector<Scalar> log_gates;  // [p + T]; empty where nothing fades
  Index earlier = 0;         // p

  KeyValueCache(const Sequence& sequence, bool fades) {
    require_together(sequence, "initial_k_cache", "initial_v_cache");
    const bool has_keys = sequence.has("initial_k_cache");
    if (has_keys) earlier = sequence.at("initial_k_cache").rows();
    K.resize(earlier + sequence.tokens, sequence.dk);
    V.resize(earlier + sequence.tokens, sequence.dv);
    if (has_keys) {
      K.topRows(earlier) = sequence.at("initial_k_cache").all<Scalar>();
      V.topRows(earlier) = sequence.at("initial_v_cache").all<Scalar>();
    }
    K.bottomRows(sequence.tokens) = sequence.at("k").all<Scalar>();
    V.bottomRows(sequence.tokens) = sequence.at("v").all<Scalar>();
    if (!fades) return;
    require_together(sequence, "initial_k_cache", "initial_g_cache");
    log_gates.resize(K.rows());
    if (has_keys) log_gates.head(earlier) = sequence.at("initial_g_cache").all<Scalar>();
    Matrix<double> own = sequence.at("alpha").all<double>();  // f_t of every token, or log f_t
    if (!sequence.gates_are_logs) own = own.array().log().matrix();
    log_gates.tail(sequence.tokens) = own.template cast<Scalar>();
  }

  /// The queries of a block's tokens, and the first `keys` keys.
  CachedQueries<Scalar> queries(const Sequence& sequence, const Block& block, Index keys) const {
    return {.Q = Rows<Scalar>{sequence, block.first_token, block.count}.scaled_q(),
            .K = K.topRows(keys),
            .V = V.topRows(keys),
            .log_gates = log_gates,
            .first_query = earlier + block.first_token,
            .fades = log_gates.size() > 0};
  }

  NamedStates states(bool fades) const {
    NamedStates named = {{"k_cache", K.template cast<double>()}, {"v_cache", V.template cast<double>()}};
    if (fades) named.emplace_back("g_cache", log_gates.template cast<double>());
    return named;
  }
};

/// The step for the decay of every key at the queries of a block.
void add_decays(PhaseBuilder& steps) {
  steps.add("decays", Purpose::mask, "Decay of each key",
            "The sum of the log gates between each key and the query.", "decays",
            call("log_decays", {tensor("g"), tensor("queries"), tensor("keys")}));
}

Expression biased(const Expression& scores, bool fades) { return fades ? scores + tensor("decays") : scores; }

Phase stream_phase(const Expression& query, bool fades) {
  PhaseBuilder steps("token by token");
  if (fades) add_decays(steps);
  steps.add("score", Purpose::scores, "Scores",
            "The inner product of the query of “{token}” with every key so far.", "x",
            biased(transpose(query) * transpose(tensor("K_cache")), fades));
  steps.add("peak", Purpose::peak, "Largest score",
            "Subtracting the largest score keeps the exponentials in range.", "m",
            call("row_max", {tensor("x")}));
  steps.add("weights", Purpose::weights, "Weights", "Exponentials turn scores into weights.", "w",
            call("exp_difference", {tensor("x"), tensor("m")}));
  steps.line("Attention weights", "Every earlier token is kept; each query gives it a new weight.");
  steps.add("denominator", Purpose::denominator, "Sum of the weights", "The sum of the weights.", "l",
            call("row_sum", {tensor("w")}));
  steps.add("numerator", Purpose::numerator, "Weighted values", "The values times their weights, summed.",
            "y", transpose(tensor("V_cache")) * transpose(tensor("w")));
  steps.add("output", Purpose::output, "Output",
            "The weighted values divided by the sum of the weights: a weighted mean.", "o",
            call("reciprocal", {tensor("l")}) * tensor("y"));
  steps.line("Output", "The weighted mean of the values.", {"y"}, 2);
  return steps.take();
}

Phase dense_phase(const Expression& query, bool fades) {
  PhaseBuilder steps("the whole sequence at once");
  if (fades) add_decays(steps);
  steps.add("scores", Purpose::scores, "Scores", "Every query with every key; later keys get the score −∞.",
            "X",
            call("causal", {biased(query * transpose(tensor("K_cache")), fades), tensor("first_query"),
                            tensor("first_key")}));
  steps.line("Attention scores", "All pairs at once, with a causal mask.");
  steps.add("peak", Purpose::peak, "Largest score",
            "The largest score of each row keeps the exponential in range.", "m",
            call("row_max", {tensor("X")}));
  steps.add("weights", Purpose::weights, "Weights", "Exponentials turn scores into weights.", "E",
            call("exp_difference", {tensor("X"), tensor("m")}));
  steps.add("denominator", Purpose::denominator, "Sum of the weights", "The sum of each row.", "l",
            call("row_sum", {tensor("E")}));
  steps.add("attention", Purpose::normalise, "Attention",
            "Each row divided by its sum, so that it adds up to 1.", "A",
            call("divide_rows", {tensor("E"), tensor("l")}));
  steps.line("Attention", "Exponentials, divided by their sum.", {"E"});
  steps.add_line({"output", Purpose::output, "Output", "Every row is a weighted mean of values.", "O",
                  tensor("A") * tensor("V_cache")});
  return steps.take();
}

Phase tile_phase(const Expression& query, bool fades) {
  const Expression fade = call("exp_difference", {tensor("m_in"), tensor("m")});
  PhaseBuilder steps("tile by tile");
  if (fades) add_decays(steps);
  steps.add("scores", Purpose::scores, "Scores", "The queries of this chunk with one tile of keys.", "X",
            call("causal", {biased(query * transpose(tensor("K")), fades), tensor("first_query"),
                            tensor("first_key")}));
  steps.line("Attention scores", "One tile of keys at a time.");
  steps.add("peak", Purpose::peak, "Largest score so far", "Does this tile raise the largest score?", "m",
            call("maximum", {tensor("m_in"), call("row_max", {tensor("X")})}));
  steps.add("weights", Purpose::weights, "Weights", "Exponentials under the new maximum.", "E",
            call("exp_difference", {tensor("X"), tensor("m")}));
  steps.line("Weights", "Exponentials under the largest score so far.");
  steps.add("denominator", Purpose::denominator, "Sum of the weights so far",
            "The earlier sum is rescaled to the new maximum.", "l",
            hadamard(fade, tensor("l_in")) + call("row_sum", {tensor("E")}));
  steps.line("Sum of the weights so far", "Rescale, then add.");
  steps.add("numerator", Purpose::numerator, "Weighted values so far",
            "The weighted values are rescaled; then this tile is added.", "Y",
            hadamard(fade, tensor("Y_in")) + tensor("E") * tensor("V"));
  steps.line("Weighted values so far", "Rescale, then add.");
  steps.carry({{"m", "m_in", Carry::When::going_on},
               {"l", "l_in", Carry::When::going_on},
               {"Y", "Y_in", Carry::When::going_on}});
  return steps.take();
}

Phase done_phase() {
  PhaseBuilder steps("the chunk is done");
  steps.add("output", Purpose::output, "Output",
            "The weighted values divided by the sum of the weights: a weighted mean.", "O",
            call("divide_rows", {tensor("Y"), tensor("l")}));
  steps.line("Output", "The weighted mean of the values.");
  steps.carry({{"l", "l"}, {"Y", "Y"}});
  return steps.take();
}

std::vector<Phase> softmax_phases(Form form, const Settings& settings, bool fades) {
  if (form == Form::recurrent) return {stream_phase(query(settings, "q"), fades)};
  if (form == Form::parallel) return {dense_phase(query(settings, "Q"), fades)};
  return {tile_phase(query(settings, "Q"), fades), done_phase()};
}

Symbols softmax_symbols(Form form, bool fades) {
  Symbols symbols = {
      {"scale", {"\\sigma", Role::plain, "scale of the query"}},
      {"first_query", {"i_0", Role::plain, "index of the first query"}},
      {"first_key", {"j_0", Role::plain, "index of the first key"}},
      {"K_cache", {form == Form::recurrent ? "K_{\\le t}" : "K", Role::key, "all keys so far"}},
      {"V_cache", {form == Form::recurrent ? "V_{\\le t}" : "V", Role::value, "all values so far"}}};
  if (fades) {
    symbols.insert(
        {{"g", {"\\log f", Role::gate, "log forget gates"}},
         {"queries", {"i", Role::plain, "index of each query"}},
         {"keys", {"j", Role::plain, "index of each key"}},
         {"decays", {form == Form::recurrent ? "d_t" : "D", Role::gate, "log decay of each key"}}});
  }
  if (form == Form::recurrent) {
    symbols.insert({{"q", {"q_t", Role::query, "query"}},
                    {"x", {"x_t", Role::plain, "scores"}},
                    {"m", {"m_t", Role::plain, "largest score"}},
                    {"w", {"w_t", Role::plain, "weights"}},
                    {"l", {"\\ell_t", Role::gate, "sum of weights"}},
                    {"y", {"y_t", Role::value, "weighted values"}},
                    {"o", {"o_t", Role::output, "output"}}});
  } else {
    symbols.insert({{"Q", {"Q", Role::query, "query"}},
                    {"K", {"K", Role::key, "a tile of keys"}},
                    {"V", {"V", Role::value, "their values"}},
                    {"X", {"X", Role::plain, "scores"}},
                    {"m", {"m", Role::plain, "largest score so far"}},
                    {"E", {"E", Role::plain, "weights"}},
                    {"l", {"\\ell", Role::gate, "sum of weights"}},
                    {"Y", {"Y", Role::value, "weighted values"}},
                    {"m_in", {"m^{-}", Role::plain, "largest score before"}},
                    {"l_in", {"\\ell^{-}", Role::gate, "sum before"}},
                    {"Y_in", {"Y^{-}", Role::value, "weighted values before"}},
                    {"A", {"A", Role::plain, "attention"}},
                    {"O", {"O", Role::output, "output"}}});
  }
  return symbols;
}

/// A block is a token, a tile of queries and keys, or everything. Nothing is carried between blocks.
template <class Scalar>
class SoftmaxWalk : public Walk<Scalar> {
 public:
  SoftmaxWalk(const Sequence& sequence, bool fades, Form form, Index chunk_size,
              const Engine<CachedQueries, Scalar>& engine)
      : Walk<Scalar>(sequence, form, chunk_size),
        fades_(fades),
        cache_(sequence, fades),
        chunk_size_(chunk_size),
        engine_(engine) {
    if (form != Form::chunkwise) return;
    for (Index first = 0; first < sequence.tokens; first += chunk_size_) {
      chunk_start_.push_back(block_total_);
      block_total_ += key_tiles(first) + 1;
    }
  }

  Index block_count() const override {
    return form_ == Form::chunkwise ? block_total_ : Walk<Scalar>::block_count();
  }

  Block block(Index index) const override {
    if (form_ != Form::chunkwise) {
      Block block = Walk<Scalar>::block(index);
      block.key_count = cache_.earlier + block.first_token + block.count;
      return block;
    }
    const auto after = std::upper_bound(chunk_start_.begin(), chunk_start_.end(), index);
    const Index chunk = after - chunk_start_.begin() - 1;
    const Index first = chunk * chunk_size_;
    const Index count = std::min(chunk_size_, sequence_.tokens - first);
    const Index tile = index - entry(chunk_start_, chunk);
    if (tile == key_tiles(first)) return {1, first, count, 0, keys_seen(first)};
    const Index first_key = tile * chunk_size_;
    return {0, first, count, first_key, std::min(chunk_size_, keys_seen(first) - first_key), tile == 0};
  }

  Index block_of(Index token, Index phase) const override {
    if (form_ != Form::chunkwise) return Walk<Scalar>::block_of(token, phase);
    const Index chunk = token / chunk_size_;
    return entry(chunk_start_, chunk) + (phase == 0 ? 0 : key_tiles(chunk * chunk_size_));
  }

  Carried<Scalar> initial() const override { return {}; }
  Index starts_at(Index) const override { return 0; }

  /// No step makes the cache: it is the rows of the sequence.
  NamedStates states(const Carried<Scalar>&) const override { return cache_.states(fades_); }
  NamedStates recorded_states(const Record&, const Carried<Scalar>&) const override {
    return cache_.states(fades_);
  }

  Matrix<Scalar> advance(Index index, Carried<Scalar>& carried, Recorder* recorder,
                         const std::stop_token& stop) const override {
    const Block block = this->block(index);
    const Index keys = block.first_key + block.key_count;
    const CachedQueries<Scalar> queries = cache_.queries(sequence_, block, keys);
    if (recorder) record_given(block, queries, *recorder);
    const Matrix<Scalar> O = engine_.block(
        {.form = form_, .chunk_size = chunk_size_, .phase = block.phase, .tap = recorder, .stop = stop},
        queries, carried);
    const bool is_tile = form_ == Form::chunkwise && block.phase == 0;
    return is_tile ? Matrix<Scalar>(0, sequence_.dv) : O;
  }

 private:
  using Walk<Scalar>::sequence_;
  using Walk<Scalar>::form_;

  /// Keys that the last query of the chunk starting at `first` sees.
  Index keys_seen(Index first) const {
    return cache_.earlier + std::min(first + chunk_size_, sequence_.tokens);
  }
  Index key_tiles(Index first) const { return (keys_seen(first) + chunk_size_ - 1) / chunk_size_; }

  /// With decays also what the bias of the queries on their keys is made from, and the bias itself.
  void record_given(const Block& block, const CachedQueries<Scalar>& queries, Recorder& recorder) const {
    this->record_scale(recorder);
    this->record_input("q", block, recorder);
    const Index first_query = cache_.earlier + block.first_token;
    if (form_ != Form::recurrent) {
      recorder("first_query", static_cast<double>(first_query));
      recorder("first_key", static_cast<double>(block.first_key));
    }
    const bool in_tiles = form_ == Form::chunkwise;
    if (in_tiles && block.phase != 0) return;
    recorder(in_tiles ? "K" : "K_cache", cache_.K.middleRows(block.first_key, block.key_count));
    recorder(in_tiles ? "V" : "V_cache", cache_.V.middleRows(block.first_key, block.key_count));
    if (!fades_) return;
    const auto numbers = [](Index first, Index count) {
      return Vector<double>::LinSpaced(count, static_cast<double>(first),
                                       static_cast<double>(first + count - 1));
    };
    recorder("g", cache_.log_gates.head(first_query + block.count));
    recorder("queries", numbers(first_query, block.count));
    recorder("keys", numbers(block.first_key, block.key_count));
    recorder("decays", queries.bias(0, block.count).middleCols(block.first_key, block.key_count));
  }

  bool fades_;
  KeyValueCache<Scalar> cache_;
  Index chunk_size_;
  const Engine<CachedQueries, Scalar>& engine_;
  std::vector<Index> chunk_start_;  // the first block of each chunk of queries
  Index block_total_ = 0;
};

template <class Scalar>
std::vector<Output> run_softmax(std::span<const Sequence> heads, bool fades, const EngineRequest& request,
                                const Engine<CachedQueries, Scalar>& engine) {
  std::vector<CachedQueries<Scalar>> queries(heads.size());
  std::vector<Output> outputs = made_in_parallel(heads.size(), request.stop, [&](std::size_t h) -> Output {
    const KeyValueCache<Scalar> cache(heads[h], fades);
    queries[h] = cache.queries(heads[h], {.count = heads[h].tokens}, cache.K.rows());
    return {{}, cache.states(fades)};
  });
  std::vector<Carried<Scalar>> nothing(heads.size());
  const std::vector<Matrix<Scalar>> o = engine.run(request, queries, nothing);
  stop_if_asked(request.stop);
  parallel_for(static_cast<Index>(heads.size()), processor_threads(),
               [&](Index h) { entry(outputs, h).o = entry(o, h).template cast<double>(); });
  return outputs;
}

/// The weights of the queries of tokens first .. first+count-1 on the earlier cache and every key up to
/// them, or on all keys: [count, keys].
Matrix<double> weights_of(const Sequence& sequence, const KeyValueCache<double>& cache, Index first,
                          Index count, bool no_mask) {
  const Index keys = cache.earlier + (no_mask ? sequence.tokens : first + count);
  const CachedQueries<double> given = cache.queries(sequence, {.first_token = first, .count = count}, keys);
  Record record;
  Recorder recorder(record);
  softmax_dense<double>(given.Q, given.K, Matrix<double>(keys, 0), no_mask ? keys - 1 : given.first_query,
                        &recorder, no_mask ? Matrix<double>() : given.bias(0, count));
  return record.at("A");
}

/// The weights of the window's rows on every key that they see; those of the earlier cache are the share of
/// the initial state, S_0 = initial_v_cache.
EffectiveAttention softmax_weights(const Sequence& sequence, bool fades, const AttentionWindow& window,
                                   const std::stop_token& stop) {
  if (window.no_mask && fades)
    throw Unsupported("A gate gives the decay of earlier tokens only, so it needs the causal mask.");
  const KeyValueCache<double> cache(sequence, fades);
  const Index p = cache.earlier;
  EffectiveAttention attention{.A = Matrix<double>::Zero(window.rows, window.columns)};
  if (window.initial) attention.Q0 = Matrix<double>::Zero(window.rows, p);
  // Consecutive rows are one product; rows further apart are computed one by one.
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
  explicit SoftmaxRule(bool fades) : fades_(fades) {}

  std::optional<std::string> missing(Form form, const Settings&) const override {
    if (form != Form::two_pass) return std::nullopt;
    return "Every query needs the keys themselves, so no first pass can compute a memory.";
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
                        [&](const auto& all) { return run_softmax(heads, fades_, request, all.softmax); });
  }

  KernelKind kernel(const Sequence& sequence, Form form, Precision precision,
                    const DeviceEngines& engines) const override {
    return engines.with(precision, [&]<class Scalar>(const Engines<Scalar>& of_scalar) {
      const CachedQueries<Scalar> sizes = {.Q = Matrix<Scalar>(0, sequence.dk),
                                           .K = Matrix<Scalar>(0, sequence.dk),
                                           .V = Matrix<Scalar>(0, sequence.dv),
                                           .fades = fades_};
      return of_scalar.softmax.kernel({.form = form}, sizes);
    });
  }

  std::optional<NamedStates> cache_after(const Sequence& sequence, Index tokens) const override {
    const KeyValueCache<double> cache(sequence, fades_);
    NamedStates states = cache.states(fades_);
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
    const double bias = fades_ ? size(queries, keys) : 0;
    const double rows = size(keys, sequence.dk) + size(keys, sequence.dv);  // queries, keys, values, outputs
    const double number = precision == Precision::f64 ? 8 : 4;
    const double gates = fades_ ? static_cast<double>(keys) : 0;  // in the cache
    return {.work = number * (weights + bias + 4 * rows), .kept = 8 * (rows + gates + size(T, sequence.dv))};
  }

  std::optional<Work> cost(const Sequence& sequence, Form form, Index chunk_size) const override {
    require_form(form, sequence.settings, chunk_size);
    return softmax_cost(sequence, form, chunk_size, fades_);
  }

  /// A stream over the cache per token (recurrent), tiles of chunk_size queries by chunk_size keys
  /// (chunkwise), or the whole matrix (parallel). Nothing is carried but the cache, so no checkpoints are
  /// needed.
  std::unique_ptr<Trace> trace(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                               std::size_t, const DeviceEngines& engines) const override {
    require_form(form, sequence.settings, chunk_size);
    Steps steps = {softmax_phases(form, sequence.settings, fades_), softmax_symbols(form, fades_)};
    const Groups groups = groups_of(form, sequence.tokens, chunk_size, 1);
    return engines.with(precision, [&]<class Scalar>(const Engines<Scalar>& all) {
      auto walk =
          std::make_unique<const SoftmaxWalk<Scalar>>(sequence, fades_, form, chunk_size, all.softmax);
      return make_walk_trace<Scalar>(std::move(walk), std::move(steps), groups, 0);
    });
  }

  Channel channel(const Sequence&, Index) const override {
    throw Unsupported(
        "Softmax attention keeps every key and value unchanged, without a state that tokens share.");
  }

  EffectiveAttention effective_attention(const Sequence& sequence, const AttentionWindow& window,
                                         std::stop_token stop) const override {
    require_window(window, sequence.tokens, sequence.dv);
    return softmax_weights(sequence, fades_, window, stop);
  }

 private:
  bool fades_;
};

/// What a query equal to the key would read from the cache, [N, V]; 0 from an empty one. Where keys decay, at
/// the time of the last token in it.
Matrix<double> cache_answers(const Sequence& sequence, const NamedStates& states,
                             const Matrix<double>& keys) {
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
}

constexpr const char* average_words =
    "No gradient step: the cache grows by one row per token. The output is the Nadaraya-Watson average of "
    "the values under the kernel exp(q·k)";

}  // namespace

/// Spec 3.1: o_t = sum_j exp(q_t . k_j) v_j / sum_j exp(q_t . k_j) over j <= t.
Variant softmax() {
  return {
      .id = "softmax",
      .label = "Softmax attention",
      .words = "Keeps every key and value; each query computes new weights for all of them.",
      .paper = "Vaswani et al., Attention Is All You Need, 2017",
      .inputs = {{"initial_k_cache", {"p", "dk"}, Range::finite, "keys before the sequence", "empty"},
                 {"initial_v_cache", {"p", "dv"}, Range::finite, "values before the sequence", "empty"}},
      .states = {{"k_cache"}, {"v_cache"}},
      .loss = {.words = std::string(average_words) + "."},
      .memory =
          {.answers = cache_answers,
           .none = "Softmax attention keeps every key and value unchanged, so it has no state with a decay."},
      .rule = std::make_shared<SoftmaxRule>(false),
  };
}

/// o_i = sum_j w_ij v_j / sum_j w_ij over j <= i, w_ij = exp(q_i . k_j) f_{j+1} ... f_i.
Variant fox() {
  return {
      .id = "fox",
      .label = "Forgetting Transformer",
      .words =
          "Softmax attention with forget gates: the gates between a key and the query reduce its weight.",
      .paper = "Lin et al., Forgetting Transformer: Softmax Attention with a Forget Gate, 2025",
      .inputs = {forgetting(
                     {"alpha", {"n"}, Range::decay, "forget gate f: how much every earlier key counts"}, 1),
                 {"initial_k_cache", {"p", "dk"}, Range::finite, "keys before the sequence", "empty"},
                 {"initial_v_cache", {"p", "dv"}, Range::finite, "values before the sequence", "empty"},
                 {"initial_g_cache", {"p"}, Range::log_decay, "log f of the tokens before", "empty"}},
      .states = {{"k_cache"}, {"v_cache"}, {"g_cache"}},
      .loss = {.words = std::string(average_words) + ", weighted by the forget gates."},
      .memory = {.answers = cache_answers,
                 .none = "The Forgetting Transformer keeps every key and value unchanged, without a shared "
                         "state. Only their weights decay."},
      .rule = std::make_shared<SoftmaxRule>(true),
  };
}

}  // namespace palimpsest
