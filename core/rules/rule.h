#pragma once

#include "core/contract/sequence.h"
#include "core/engines/device_engines.h"
#include "core/operator/work.h"
#include "core/steps/trace.h"

namespace palimpsest {

struct AttentionWindow;
struct Channel;
struct EffectiveAttention;
class RowRule;

/// By what factor a result changes more than one rounding, relative to the largest element of each array
/// (Disagreement::error).
struct Amplification {
  /// Of "o", "S", ...: at least 1; infinite where nothing of the array is left.
  std::map<std::string, double, std::less<>> factors = {};
  std::vector<double> states_after = {};  // [T] the states' largest, if the sequence ended after that token

  /// The factor of `array`; 1 for one that was not measured.
  double of(std::string_view array) const;
  /// Raises the factor of `array` to `factor` if it is lower.
  void raise(std::string_view array, double factor);
  /// The first token after which the states' factor exceeds `most` to the end; -1: none.
  Index first_beyond(double most) const;
};

/// How many tokens of a sequence a form takes at once.
Index tokens_at_once(Form form, Index chunk_size, Index tokens);

/// How a variant computes. Row programs share one implementation (row_rule.h).
class Rule {
 public:
  virtual ~Rule() = default;

  /// The rule as a row program; null where it is none.
  virtual const RowRule* row_program() const { return nullptr; }

  /// Why `form` does not exist with these settings; nothing if it does. Unless a rule says otherwise it has
  /// all but the two passes.
  virtual std::optional<std::string> missing(Form form, const Settings& settings) const;

  /// Outputs and final state of one head. `chunk_size` >= 1 is the form's chunk and never changes a result.
  /// Throws Unsupported with the reason where the form is missing, Cancelled when asked to stop, Error with
  /// the device's words where it fails.
  Output run(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
             std::stop_token stop = {}, const DeviceEngines& engines = cpu_engines()) const;

  /// The same for all heads of a batch, at once where the device can: [B H]. Throws as run() does.
  virtual std::vector<Output> run_heads(std::span<const Sequence> heads, Form form, Precision precision,
                                        Index chunk_size, std::stop_token stop,
                                        const DeviceEngines& engines) const = 0;

  /// What run_heads() computes with on these engines.
  virtual KernelKind kernel(const Sequence&, Form, Precision, const DeviceEngines&) const {
    return KernelKind::plain;
  }

  /// The outputs of a sequence whose tokens write nothing: reads of the initial state alone, decayed by the
  /// gates. The case of the chunkwise form in which all queries come after a block of keys: no mask, no
  /// solve. [T, V]. Throws as run() does, and Unsupported where a rule has no such read.
  virtual Matrix<double> answers(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                                 std::stop_token stop = {}) const;

  /// Calls `visit(t, states)` with the states after t = 0, 1, ... T tokens, as the recurrent form makes them
  /// in f64, until it returns false. Inside an inner batch they are those of a sequence that ends there.
  /// Throws Unsupported for a rule without such a walk, Cancelled when asked to stop.
  using VisitStates = std::function<bool(Index tokens, const NamedStates& states)>;
  virtual void walk_states(const Sequence& sequence, const VisitStates& visit,
                           std::stop_token stop = {}) const;

  /// The states after `tokens` tokens where they are rows of the inputs and need no walk: a cache of keys and
  /// values. Nothing for another rule.
  virtual std::optional<NamedStates> cache_after(const Sequence&, Index /*tokens*/) const {
    return std::nullopt;
  }

  /// Whether no output depends on tokens after its own (or after its inner batch): then more tokens may
  /// follow.
  virtual bool is_causal(const Sequence&) const { return true; }

  /// The memory that run() takes for one head.
  virtual Footprint footprint(const Sequence&, Form, Precision, Index /*chunk_size*/) const { return {}; }

  /// What run() computes and moves for one head; nothing where a rule does not say. It depends on which
  /// arrays there are, never on their numbers.
  virtual std::optional<Work> cost(const Sequence&, Form, Index /*chunk_size*/) const { return std::nullopt; }

  /// By what factor `form` amplifies rounding, beyond what the rounding of inputs does in any form; empty
  /// where a rule does not say.
  virtual Amplification amplification(const Sequence& sequence, Form form, Index chunk_size,
                                      std::stop_token stop = {}) const;

  /// The steps of one form, values on demand in at most about `budget` bytes of checkpoints.
  virtual std::unique_ptr<Trace> trace(const Sequence& sequence, Form form, Precision precision,
                                       Index chunk_size, std::size_t budget = std::size_t{128} << 20,
                                       const DeviceEngines& engines = cpu_engines()) const = 0;

  /// One column of the state as a row program (core/operator/channel.h): that of a value channel, or, after
  /// these, an additional one of the rule. Throws Unsupported with the reason where the state is not linear
  /// in the values, InputError for a column that does not exist.
  virtual Channel channel(const Sequence& sequence, Index column) const;

  /// The weights of values in outputs (core/rules/effective_attention.h). Throws as channel() does.
  virtual EffectiveAttention effective_attention(const Sequence& sequence, const AttentionWindow& window,
                                                 std::stop_token stop = {}) const;

 protected:
  /// Throws InputError unless chunk_size >= 1, Unsupported where the form is missing.
  void require_form(Form form, const Settings& settings, Index chunk_size) const;
};

/// Throws InputError unless chunk_size >= 1.
void require_chunk_size(Index chunk_size);

}  // namespace palimpsest
