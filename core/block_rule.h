#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/recorder.h"
#include "core/rule.h"

namespace palimpsest {

/// What some tokens at once take of the machine's memory, and for what.
struct MemoryNeed {
  double bytes = 0;
  std::string what;  // "its n x n matrices"
};

/// One head of a rule that is no row program but still carries one matrix of numbers from block to block of
/// tokens: a token (recurrent), a chunk (chunkwise) or the whole sequence (parallel).
template <class Scalar>
class BlockEngine {
 public:
  virtual ~BlockEngine() = default;

  /// The state before the first token, as one matrix.
  virtual Matrix<Scalar> initial_state() const = 0;

  /// Carries `state` over `count` >= 1 tokens from `first` on and returns their outputs [count, V]. The
  /// recurrent form is only recorded token by token. Throws Cancelled when asked to stop.
  virtual Matrix<Scalar> advance(Form form, Index first, Index count, Matrix<Scalar>& state,
                                 Recorder* recorder, const std::stop_token& stop) const = 0;

  /// The state by the names of Variant::states.
  virtual std::vector<std::pair<std::string, Matrix<double>>> named_states(
      const Matrix<Scalar>& state) const = 0;

  /// What `count` tokens at once need in the chunkwise and the parallel form; more if all of it is recorded.
  virtual MemoryNeed need(Index count, bool recorded) const = 0;
};

/// What a form shows: its phases and how their tensors are written.
struct Steps {
  std::vector<Phase> phases;
  Symbols symbols;
};

/// A rule from its engine in both precisions and its steps.
class BlockRule : public Rule {
 public:
  template <class Scalar>
  using EngineOf = std::function<std::unique_ptr<BlockEngine<Scalar>>(const Sequence&)>;
  using StepsOf = std::function<Steps(const Sequence&, Form)>;

  BlockRule(EngineOf<double> engine_f64, EngineOf<float> engine_f32, StepsOf steps)
      : engine_f64_(std::move(engine_f64)), engine_f32_(std::move(engine_f32)), steps_(std::move(steps)) {}

  Output run(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
             std::stop_token stop = {}) const override;
  void walk_states(const Sequence& sequence, const VisitStates& visit, std::stop_token stop) const override;
  std::unique_ptr<Trace> trace(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                               std::size_t budget) const override;

 private:
  EngineOf<double> engine_f64_;
  EngineOf<float> engine_f32_;
  StepsOf steps_;
};

/// A rule from a class template `Engine<Scalar>(const Sequence&)`.
template <template <class> class Engine>
std::shared_ptr<const Rule> block_rule(BlockRule::StepsOf steps) {
  return std::make_shared<BlockRule>(
      [](const Sequence& sequence) { return std::make_unique<Engine<double>>(sequence); },
      [](const Sequence& sequence) { return std::make_unique<Engine<float>>(sequence); }, std::move(steps));
}

}  // namespace palimpsest
