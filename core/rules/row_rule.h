#pragma once

#include <functional>

#include "core/operator/program.h"
#include "core/rules/rule.h"
#include "core/steps/row_notation.h"

namespace palimpsest {

/// How the state of a program, [p K, V], and the states that a variant takes and hands on become each other.
struct StateNames {
  /// The state before the first token, from the initial states of a sequence; 0 where they are absent.
  std::function<Matrix<double>(const Sequence&)> initial = {};
  /// The states by the names of Variant::states after the tokens of the sequence.
  std::function<std::vector<std::pair<std::string, Matrix<double>>>(const Matrix<double>&, const Sequence&)>
      named = {};
};

/// A variant that is a row program (spec 1.1): all forms come from the three engines,
/// the steps from its structure.
class RowRule : public Rule {
 public:
  /// How a variant names its steps; may depend on its options.
  using NotationOf = std::function<Notation(const Settings&)>;

  /// `normalised`: the last value column is a constant 1, its read is the denominator of the others (plus
  /// eps), and the state splits into S and z.
  RowRule(Encoder encoder, NotationOf notation, bool normalised, StateNames states = {})
      : encoder_(std::move(encoder)),
        notation_(std::move(notation)),
        normalised_(normalised),
        states_(std::move(states)) {}

  const RowRule* row_program() const override { return this; }
  std::optional<std::string> missing(Form form, const Settings& settings) const override;
  Output run(const Sequence& sequence, Form form, Precision precision, Index chunk_size, std::stop_token stop,
             const DeviceEngines& engines) const override;
  std::vector<Output> run_heads(std::span<const Sequence> heads, Form form, Precision precision,
                                Index chunk_size, std::stop_token stop,
                                const DeviceEngines& engines) const override;
  std::string fused_kernel(const Sequence& sequence, Form form, Precision precision,
                           const DeviceEngines& engines) const override;
  Matrix<double> answers(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                         std::stop_token stop = {}) const override;
  void walk_states(const Sequence& sequence, const VisitStates& visit, std::stop_token stop) const override;
  bool is_causal(const Sequence& sequence) const override;
  Footprint footprint(const Sequence& sequence, Form form, Precision precision,
                      Index chunk_size) const override;
  std::unique_ptr<Trace> trace(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                               std::size_t budget, const DeviceEngines& engines) const override;
  std::optional<Cost> cost(const Sequence& sequence, Form form, Index chunk_size) const override;

  Amplification amplification(const Sequence& sequence, Form form, Index chunk_size,
                              std::stop_token stop) const override;

  Channel channel(const Sequence& sequence, Index column) const override;

  /// The program of `count` tokens from `first` on. Structure and columns are those of any range, an empty
  /// one too.
  template <class Scalar>
  Program<Scalar> encode(const Sequence& sequence, Index first, Index count) const {
    return encoder_.encode<Scalar>(sequence, first, count);
  }

  const Encoder& encoder() const { return encoder_; }
  Notation notation(const Settings& settings) const { return notation_(settings); }
  bool normalised() const { return normalised_; }
  const StateNames& state_names() const { return states_; }

  /// The state before the first token, [K, V] of the program.
  template <class Scalar>
  Matrix<Scalar> initial_state(const Sequence& sequence) const;

  /// A program's state under the variant's names.
  template <class Scalar>
  std::vector<std::pair<std::string, Matrix<double>>> named_states(const Matrix<Scalar>& state,
                                                                   const Sequence& sequence) const;

  /// What the program reads, as the variant's output: [L, V].
  template <class Scalar>
  Matrix<Scalar> finish(const Matrix<Scalar>& read, const Sequence& sequence) const;

 private:
  Encoder encoder_;
  NotationOf notation_;
  bool normalised_;
  StateNames states_;
};

/// The array `name` of a sequence, or zeros of this shape where it is absent.
Matrix<double> given_or_zero(const Sequence& sequence, std::string_view name, Index rows, Index columns);

/// The state of a program without parts, [K, V], from the states that it has by name: side by side.
Matrix<double> program_state(const NamedStates& states);

/// A rule from a generic encoding function `Program<Scalar> encode(const Rows<Scalar>&)`.
template <class Function>
std::shared_ptr<const Rule> row_rule(Function encode, Notation notation = {}) {
  return std::make_shared<RowRule>(
      make_encoder(encode), [notation](const Settings&) { return notation; }, false);
}

}  // namespace palimpsest
