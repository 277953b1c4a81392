#include "core/steps/softmax_trace.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/contract/output.h"
#include "core/engines/engines.h"
#include "core/engines/walk.h"
#include "core/steps/phase.h"
#include "core/steps/walk_trace.h"

namespace palimpsest {

template <class Scalar>
KeyValueCache<Scalar>::KeyValueCache(const Sequence& sequence, const KeyFading& fading) {
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
  if (!fading) return;
  const std::string initial = "initial_" + fading.state;
  require_together(sequence, "initial_k_cache", initial);
  log_gates.resize(K.rows());
  if (has_keys) log_gates.head(earlier) = sequence.at(initial).all<Scalar>();
  log_gates.tail(sequence.tokens) = fading.log_gates(sequence).template cast<Scalar>();
}

template <class Scalar>
Matrix<Scalar> KeyValueCache<Scalar>::bias(Index first, Index count) const {
  return log_gates.size() == 0 ? Matrix<Scalar>() : log_decays(log_gates, earlier + first, count);
}

template <class Scalar>
CachedQueries<Scalar> KeyValueCache<Scalar>::queries(const Sequence& sequence, const Block& block,
                                                     Index keys) const {
  return {.Q = sequence.at("q").rows<Scalar>(block.first_token, block.count) *
               static_cast<Scalar>(sequence.parameter("scale")),
          .K = K.topRows(keys),
          .V = V.topRows(keys),
          .log_gates = log_gates,
          .first_query = earlier + block.first_token,
          .fades = log_gates.size() > 0};
}

template <class Scalar>
NamedStates KeyValueCache<Scalar>::states(const KeyFading& fading) const {
  NamedStates named = {{"k_cache", K.template cast<double>()}, {"v_cache", V.template cast<double>()}};
  if (fading) named.emplace_back(fading.state, log_gates.template cast<double>());
  return named;
}

template struct KeyValueCache<double>;
template struct KeyValueCache<float>;

namespace {

/// What the gates leave of every key, for the queries of a block.
void add_decays(PhaseBuilder& steps) {
  steps.add("decays", Purpose::mask, "What is left of each key",
            "Every gate fades all keys before it; the logarithms of those in between add up.", "decays",
            call("log_decays", {tensor("g"), tensor("queries"), tensor("keys")}));
}

Expression biased(const Expression& scores, bool fades) { return fades ? scores + tensor("decays") : scores; }

Phase stream_phase(const Expression& query, bool fades) {
  PhaseBuilder steps("token by token");
  if (fades) add_decays(steps);
  steps.add("score", Purpose::scores, "How similar",
            "How similar is the query of “{token}” to every key kept so far?", "x",
            biased(transpose(query) * transpose(tensor("K_cache")), fades));
  steps.add("peak", Purpose::peak, "The best match",
            "The largest score; taking it out keeps the exponential in range.", "m",
            call("row_max", {tensor("x")}));
  steps.add("weights", Purpose::weights, "How much each counts", "Exponentials turn scores into weights.",
            "w", call("exp_difference", {tensor("x"), tensor("m")}));
  steps.line("Who is looked at", "Every earlier token is still there, and every one is weighed anew.", "w");
  steps.add("denominator", Purpose::denominator, "All weights", "The sum of the weights.", "l",
            call("row_sum", {tensor("w")}));
  steps.add("numerator", Purpose::numerator, "Weighted values",
            "The values, each as often as its weight says.", "y",
            transpose(tensor("V_cache")) * transpose(tensor("w")));
  steps.add("output", Purpose::output, "What comes out", "Weighted values over all weights: an average.", "o",
            call("reciprocal", {tensor("l")}) * tensor("y"));
  steps.line("What comes out", "The average of the values under these weights.", "o", {"y"}, 2);
  return steps.take();
}

Phase dense_phase(const Expression& query, bool fades) {
  PhaseBuilder steps("the whole sequence at once");
  if (fades) add_decays(steps);
  steps.add("scores", Purpose::scores, "How similar",
            "Every query meets every key; the future is masked by adding minus infinity.", "X",
            call("causal", {biased(query * transpose(tensor("K_cache")), fades), tensor("first_query"),
                            tensor("first_key")}));
  steps.line("Who reads whom", "All pairs at once, the future masked.", "X");
  steps.add("peak", Purpose::peak, "The best match",
            "The largest score of each row keeps the exponential in range.", "m",
            call("row_max", {tensor("X")}));
  steps.add("weights", Purpose::weights, "How much each counts", "Exponentials turn scores into weights.",
            "E", call("exp_difference", {tensor("X"), tensor("m")}));
  steps.add("denominator", Purpose::denominator, "All weights", "The sum of each row.", "l",
            call("row_sum", {tensor("E")}));
  steps.add("attention", Purpose::normalise, "Attention",
            "Each row divided by its sum: shares that add up to 1.", "A",
            call("divide_rows", {tensor("E"), tensor("l")}));
  steps.line("Attention", "Exponentials, divided by their sum.", "A", {"E"});
  steps.add("output", Purpose::output, "What comes out", "Every row is an average of values.", "O",
            tensor("A") * tensor("V_cache"));
  steps.line("What comes out", "Every row is an average of values.", "O");
  return steps.take();
}

Phase tile_phase(const Expression& query, bool fades) {
  const Expression fade = call("exp_difference", {tensor("m_in"), tensor("m")});
  PhaseBuilder steps("tile by tile");
  if (fades) add_decays(steps);
  steps.add("scores", Purpose::scores, "How similar", "The queries of this chunk meet one tile of keys.", "X",
            call("causal", {biased(query * transpose(tensor("K")), fades), tensor("first_query"),
                            tensor("first_key")}));
  steps.line("Who reads whom", "One tile of keys at a time.", "X");
  steps.add("peak", Purpose::peak, "The best match so far", "Does this tile raise the largest score?", "m",
            call("maximum", {tensor("m_in"), call("row_max", {tensor("X")})}));
  steps.add("weights", Purpose::weights, "How much each counts", "Exponentials under the new maximum.", "E",
            call("exp_difference", {tensor("X"), tensor("m")}));
  steps.line("Weights", "Exponentials under the largest score so far.", "E");
  steps.add("denominator", Purpose::denominator, "All weights so far",
            "What was summed before is rescaled to the new maximum.", "l",
            hadamard(fade, tensor("l_in")) + call("row_sum", {tensor("E")}));
  steps.line("All weights so far", "Rescale, then add.", "l");
  steps.add("numerator", Purpose::numerator, "Weighted values so far",
            "So are the values: rescale, then add this tile.", "Y",
            hadamard(fade, tensor("Y_in")) + tensor("E") * tensor("V"));
  steps.line("Weighted values so far", "Rescale, then add.", "Y");
  steps.carry({{"m", "m_in", Carry::When::going_on},
               {"l", "l_in", Carry::When::going_on},
               {"Y", "Y_in", Carry::When::going_on}});
  return steps.take();
}

Phase done_phase() {
  PhaseBuilder steps("the chunk is done");
  steps.add("output", Purpose::output, "What comes out", "Weighted values over all weights: an average.", "O",
            call("divide_rows", {tensor("Y"), tensor("l")}));
  steps.line("What comes out", "The average of the values under these weights.", "O");
  steps.carry({{"l", "l"}, {"Y", "Y"}});
  return steps.take();
}

std::vector<Phase> softmax_phases(Form form, bool scaled, bool fades) {
  const auto query = [&](const char* name) { return scaled ? tensor("scale") * tensor(name) : tensor(name); };
  if (form == Form::recurrent) return {stream_phase(query("q"), fades)};
  if (form == Form::parallel) return {dense_phase(query("Q"), fades)};
  return {tile_phase(query("Q"), fades), done_phase()};
}

Symbols softmax_symbols(Form form, const KeyFading& fading) {
  Symbols symbols = {
      {"scale", {"\\sigma", Role::plain, "scale of the query"}},
      {"first_query", {"i_0", Role::plain, "index of the first query"}},
      {"first_key", {"j_0", Role::plain, "index of the first key"}},
      {"K_cache", {form == Form::recurrent ? "K_{\\le t}" : "K", Role::key, "all keys so far"}},
      {"V_cache", {form == Form::recurrent ? "V_{\\le t}" : "V", Role::value, "all values so far"}}};
  if (fading) {
    symbols.insert(
        {{"g", fading.symbol},
         {"queries", {"i", Role::plain, "index of each query"}},
         {"keys", {"j", Role::plain, "index of each key"}},
         {"decays", {form == Form::recurrent ? "d_t" : "D", Role::gate, "what is left, as a logarithm"}}});
  }
  if (form == Form::recurrent) {
    symbols.insert({{"q", {"q_t", Role::query, "what is asked"}},
                    {"x", {"x_t", Role::plain, "scores"}},
                    {"m", {"m_t", Role::plain, "largest score"}},
                    {"w", {"w_t", Role::plain, "weights"}},
                    {"l", {"\\ell_t", Role::gate, "sum of weights"}},
                    {"y", {"y_t", Role::value, "weighted values"}},
                    {"o", {"o_t", Role::output, "what comes out"}}});
    return symbols;
  }
  symbols.insert({{"Q", {"Q", Role::query, "what is asked"}},
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
                  {"O", {"O", Role::output, "what comes out"}}});
  return symbols;
}

/// A block is a token, a tile of queries and keys, or everything. Nothing is carried: a block starts anew.
template <class Scalar>
class SoftmaxWalk : public Walk<Scalar> {
 public:
  SoftmaxWalk(const Sequence& sequence, const KeyFading& fading, Form form, Index chunk_size,
              const Engine<CachedQueries, Scalar>& engine)
      : Walk<Scalar>(sequence, form, chunk_size),
        fading_(fading),
        cache_(sequence, fading),
        chunk_size_(chunk_size),
        engine_(engine) {
    if (form != Form::chunkwise) return;
    for (Index first = 0; first < sequence.tokens; first += chunk_size_) {
      chunk_start_.push_back(block_total_);
      block_total_ += key_tiles(first) + 1;
    }
  }

  Index block_count() const override {
    if (form_ == Form::recurrent) return sequence_.tokens;
    if (form_ == Form::parallel) return sequence_.tokens > 0 ? 1 : 0;
    return block_total_;
  }

  Block block(Index index) const override {
    if (form_ == Form::recurrent) return {0, index, 1, 0, cache_.earlier + index + 1};
    if (form_ == Form::parallel) return {0, 0, sequence_.tokens, 0, cache_.K.rows()};
    const auto after = std::upper_bound(chunk_start_.begin(), chunk_start_.end(), index);
    const Index chunk = after - chunk_start_.begin() - 1;
    const Index first = chunk * chunk_size_;
    const Index count = std::min(chunk_size_, sequence_.tokens - first);
    const Index tile = index - chunk_start_[static_cast<std::size_t>(chunk)];
    if (tile == key_tiles(first)) return {1, first, count, 0, keys_seen(first)};
    const Index first_key = tile * chunk_size_;
    return {0, first, count, first_key, std::min(chunk_size_, keys_seen(first) - first_key), tile == 0};
  }

  Index block_of(Index token, Index phase) const override {
    if (form_ == Form::recurrent) return token;
    if (form_ == Form::parallel) return 0;
    const Index chunk = token / chunk_size_;
    return chunk_start_[static_cast<std::size_t>(chunk)] + (phase == 0 ? 0 : key_tiles(chunk * chunk_size_));
  }

  Carried<Scalar> initial() const override { return {}; }
  Index starts_at(Index) const override { return 0; }

  /// No step makes the cache: it is the rows of the sequence.
  NamedStates states(const Carried<Scalar>&) const override { return cache_.states(fading_); }
  NamedStates recorded_states(const Record&, const Carried<Scalar>&) const override {
    return cache_.states(fading_);
  }

  Matrix<Scalar> advance(Index index, Carried<Scalar>& carried, Recorder* recorder,
                         const std::stop_token& stop) const override {
    const Block block = this->block(index);
    const Index keys = block.first_key + block.key_count;
    if (recorder) record_given(block, keys, *recorder);
    const Matrix<Scalar> O = engine_.block(
        {.form = form_, .chunk_size = chunk_size_, .phase = block.phase, .tap = recorder, .stop = stop},
        cache_.queries(sequence_, block, keys), carried);
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

  /// What the bias of a block's queries on the keys from first_key on is made from, and the bias itself.
  void record_decays(const Block& block, Index first_key, const Matrix<Scalar>& bias,
                     Recorder& recorder) const {
    if (bias.size() == 0) return;
    const Index first_query = cache_.earlier + block.first_token;
    recorder("g", cache_.log_gates.head(first_query + block.count));
    recorder("queries", numbers(first_query, block.count));
    recorder("keys", numbers(first_key, bias.cols()));
    recorder("decays", bias);
  }

  static Vector<double> numbers(Index first, Index count) {
    return Vector<double>::LinSpaced(count, static_cast<double>(first),
                                     static_cast<double>(first + count - 1));
  }

  void record_given(const Block& block, Index keys, Recorder& recorder) const {
    const Matrix<Scalar> bias = cache_.bias(block.first_token, block.count);
    this->record_scale(recorder);
    this->record_input("q", block, recorder);
    if (form_ != Form::recurrent) {
      recorder("first_query", static_cast<double>(cache_.earlier + block.first_token));
      recorder("first_key", static_cast<double>(block.first_key));
    }
    if (form_ != Form::chunkwise) {
      recorder("K_cache", cache_.K.topRows(keys));
      recorder("V_cache", cache_.V.topRows(keys));
      record_decays(block, 0, bias, recorder);
    } else if (block.phase == 0) {
      const Index first = block.first_key;
      recorder("K", cache_.K.middleRows(first, block.key_count));
      recorder("V", cache_.V.middleRows(first, block.key_count));
      record_decays(block, first,
                    bias.size() == 0 ? bias : Matrix<Scalar>(bias.middleCols(first, block.key_count)),
                    recorder);
    }
  }

  KeyFading fading_;
  KeyValueCache<Scalar> cache_;
  Index chunk_size_;
  const Engine<CachedQueries, Scalar>& engine_;
  std::vector<Index> chunk_start_;  // the first block of each chunk of queries
  Index block_total_ = 0;
};

}  // namespace

std::unique_ptr<Trace> make_softmax_trace(const Sequence& sequence, const KeyFading& fading, Form form,
                                          Precision precision, Index chunk_size,
                                          const DeviceEngines& engines) {
  const bool scaled = sequence.parameter("scale") != 1;
  Steps steps = {softmax_phases(form, scaled, static_cast<bool>(fading)), softmax_symbols(form, fading)};
  const Groups groups = groups_of(form, sequence.tokens, chunk_size, 1);
  const auto of = [&]<class Scalar>(const Engines<Scalar>& all) {
    return make_walk_trace<Scalar>(
        std::make_unique<const SoftmaxWalk<Scalar>>(sequence, fading, form, chunk_size, all.softmax),
        std::move(steps), groups, 0);
  };
  return precision == Precision::f64 ? of(engines.f64) : of(engines.f32);
}

}  // namespace palimpsest
