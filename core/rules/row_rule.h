#pragma once

#include "core/rules/rule.h"
#include "core/steps/phase.h"

namespace palimpsest {

/// Converts between the state of a program, [p K, V], and the states that a variant takes and hands on.
struct StateNames {
  /// The state before the first token, from the initial states of a sequence; 0 where they are absent.
  std::function<Matrix<double>(const Sequence&)> initial = {};
  /// The states by the names of Variant::states after the tokens of the sequence.
  std::function<NamedStates(const Matrix<double>&, const Sequence&)> named = {};
};

/// The parts of the structure that depend on the data, by the array that decides. Log gates need no entry:
/// where data give g instead of alpha, the gate of their programs holds g.
struct SaidByData {
  std::string_view decay = {};          // without this array nothing decays
  std::string_view rows_per_read = {};  // a token has a row for each column of this array
};

/// What a rule makes of what its program reads for some tokens: [R, V] -> [R, dv].
template <class Scalar>
using Finish = Matrix<Scalar>(const Matrix<Scalar>& read, const Rows<Scalar>&);

/// All that defines a row rule. The structure of its programs is separate from their arrays, so that it is
/// known without data.
struct RowDeclaration {
  std::function<Structure(const Settings&)> structure;  // for resolved settings
  SaidByData said_by_data = {};
  Encoder encoder;
  std::function<Notation(const Settings&)> notation;  // how a variant names its steps
  bool normalised = false;  // the last value column, often a constant 1, is a memory z of its own, and what
                            // is read of it is the denominator of the others, plus eps where there is one
  InEither<Finish> finish = {};  // where the outputs are more than what is read, or its quotient
  StateNames states = {};
};

/// A variant that is a row program (spec 1.1): all forms come from the three engines,
/// the steps from its structure.
class RowRule : public Rule {
 public:
  explicit RowRule(RowDeclaration declaration) : declaration_(std::move(declaration)) {}

  const RowRule* row_program() const override { return this; }
  std::optional<std::string> missing(Form, const Settings&) const override { return std::nullopt; }
  std::vector<Output> run_heads(std::span<const Sequence> heads, Form form, Precision precision,
                                Index chunk_size, std::stop_token stop,
                                const DeviceEngines& engines) const override;
  KernelKind kernel(const Sequence& sequence, Form form, Precision precision,
                    const DeviceEngines& engines) const override;
  Matrix<double> answers(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                         std::stop_token stop = {}) const override;
  void walk_states(const Sequence& sequence, const VisitStates& visit, std::stop_token stop) const override;
  bool is_causal(const Sequence& sequence) const override;
  Footprint footprint(const Sequence& sequence, Form form, Precision precision,
                      Index chunk_size) const override;
  /// Blocks of a token, a chunk or everything; states are kept every few blocks within `budget` bytes, the
  /// rest is computed again from the nearest one by the same engine.
  std::unique_ptr<Trace> trace(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                               std::size_t budget, const DeviceEngines& engines) const override;
  std::optional<Work> cost(const Sequence& sequence, Form form, Index chunk_size) const override;

  Amplification amplification(const Sequence& sequence, Form form, Index chunk_size,
                              std::stop_token stop) const override;

  Channel channel(const Sequence& sequence, Index column) const override;

  /// The structure of its programs with resolved settings, without data: as for data that give every array,
  /// gates as alpha and, where the data decide, several rows per token.
  Structure structure(const Settings& settings) const;
  /// The structure of the programs of one sequence.
  Structure structure(const Sequence& sequence) const;

  /// The program of `count` tokens from `first` on. Structure and columns are those of any range, an empty
  /// one too. Throws Error where its arrays are not those that its structure declares.
  template <class Scalar>
  Program<Scalar> encode(const Sequence& sequence, Index first, Index count) const;

  const RowDeclaration& declaration() const { return declaration_; }
  Notation notation(const Settings& settings) const { return declaration_.notation(settings); }
  bool normalised() const { return declaration_.normalised; }
  /// Whether the outputs are more than what is read, or its quotient.
  bool finishes() const { return static_cast<bool>(declaration_.finish); }

  /// The state before the first token, [K, V] of the program.
  template <class Scalar>
  Matrix<Scalar> initial_state(const Sequence& sequence) const;

  /// A program's state under the variant's names.
  NamedStates named_states(const Matrix<double>& state, const Sequence& sequence) const;

  /// The variant's outputs from what the program reads for tokens from `first` on: [L, V].
  template <class Scalar>
  Matrix<Scalar> finish(Matrix<Scalar> read, const Sequence& sequence, Index first = 0) const;

  /// What is read of the values, divided by what is read of z where the rule is normalised.
  template <class Scalar>
  Matrix<Scalar> divided(Matrix<Scalar> read, const Sequence& sequence) const;

 private:
  RowDeclaration declaration_;
};

/// The array `name` of a sequence, or zeros of this shape where it is absent.
Matrix<double> given_or_zero(const Sequence& sequence, std::string_view name, Index rows, Index columns);

/// How the row programs of rules that learn in inner batches (TTT-Linear, LaCT) write their steps: the write
/// strength is the learning rate eta.
Notation learning_notation(const Settings& settings);

/// The state of a program without parts, [K, V], from the states that it has by name: side by side.
Matrix<double> program_state(const NamedStates& states);

/// The rows as data give them: scaled q, k and v, and alpha, mu and beta where there are any.
const Encoder& given_rows();

/// A rule from the structure of its programs, by its settings, and the encoder of their arrays.
std::shared_ptr<const Rule> row_rule(std::function<Structure(const Settings&)> structure,
                                     Encoder encode = given_rows(), Notation notation = {},
                                     SaidByData said_by_data = {});

/// The same for programs whose structure does not depend on the settings.
std::shared_ptr<const Rule> row_rule(Structure structure, Encoder encode = given_rows(),
                                     Notation notation = {}, SaidByData said_by_data = {});

}  // namespace palimpsest
