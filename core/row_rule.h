#pragma once

#include <functional>

#include "core/program.h"
#include "core/rule.h"

namespace palimpsest {

/// The names under which the matrices of a program stand in a record.
struct ProgramNames {
  std::string q;
  std::string k;
  std::string v;             // empty: the program writes no value of its own
  std::string o;             // what the program reads, before any closing step
  std::string a = {};        // the erase key; empty: k
  std::string k_plain = {};  // the second write
  std::string v_plain = {};
  std::string beta = "beta";  // the write strength: an input, or what an operation makes of it
};

/// How a row program's steps are named and written. The defaults suit every rule that uses q, k and v as they
/// come. Which names are taken says Record.
struct Notation {
  ProgramNames token = {"q", "k", "v", "o"};  // of one token
  ProgramNames rows = {"Q", "K", "V", "O"};   // of a chunk
  std::vector<Operation> token_write = {};  // of a state in parts: from the rows to the memory after, S_after
  std::vector<Carry> token_carries = {};    // and which parts go on from token to token
  std::vector<Operation> token_before = {};  // from q, k, v to the program's rows
  std::vector<Operation> token_query = {};   // from q to the program's query, by itself: where it is read
  std::vector<Operation> token_after = {};   // from what is read to o
  std::vector<Operation> rows_before = {};   // the same for chunks, from Q, K, V and to O
  std::vector<Operation> rows_query = {};
  std::vector<Operation> rows_after = {};
  std::vector<std::string> arrays = {};      // inputs without an axis of tokens that these operations use
  std::vector<std::string> parameters = {};  // further numbers that these operations use
  Symbols symbols = {};  // added to the usual ones, or in their place; written as for one token (p_t), rows
                         // of many lose the t
};

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

  std::optional<std::string> missing(Form form, const Settings& settings) const override;
  Output run(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
             std::stop_token stop = {}) const override;
  Matrix<double> answers(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                         std::stop_token stop = {}) const override;
  void walk_states(const Sequence& sequence, const VisitStates& visit, std::stop_token stop) const override;
  bool is_causal(const Sequence& sequence) const override;
  Memory memory(const Sequence& sequence, Form form, Precision precision, Index chunk_size) const override;
  std::unique_ptr<Trace> trace(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                               std::size_t budget) const override;
  std::optional<Cost> cost(const Sequence& sequence, Form form, Index chunk_size) const override;

  Amplification amplification(const Sequence& sequence, Form form, Index chunk_size,
                              std::stop_token stop) const override;

  Channel channel(const Sequence& sequence, Index column) const override;

  const Encoder& encoder() const { return encoder_; }
  Notation notation(const Settings& settings) const { return notation_(settings); }
  bool normalised() const { return normalised_; }

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
