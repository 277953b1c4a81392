#pragma once

#include <mutex>
#include <stop_token>

#include "core/contract/output.h"
#include "core/formula/expression.h"
#include "core/operator/blocks.h"

namespace palimpsest {

/// What a step of a form is for: steps that do the same in different rules and forms share one purpose.
/// Faults (core/proof/faults.cpp) and sentences about a form find steps by it.
enum class Purpose {
  // Before the rule itself.
  prepare,    // computed from the inputs: features, shares, additional keys
  gates,      // decays that are not given but computed
  gain,       // the direction of each write (recursive least squares)
  certainty,  // P, the inverse of the decayed Gram matrix of the keys

  // Decay products.
  mask,        // of each write, when a later query reads
  fade_in,     // of the memory carried in, when a query reads
  erase_mask,  // the same two for an erase
  erase_fade_in,
  fade_out,   // of each write, at the end of the block
  fade_over,  // of the memory carried in, at the end of the block

  // The memory, token by token.
  decay,     // what is kept of it
  read,      // the prediction for the key, before the write
  error,     // target minus prediction, or minus the prediction
  update,    // what is to be written
  momentum,  // the decayed sum of updates
  write,     // the memory after
  keys,      // the same for a second memory, the Gram matrix of the keys

  // The same for all rows of a block.
  overlap,   // how much each row's erase reads of earlier writes
  rest,      // what would be written if no row of the block wrote
  solve,     // what is written, or the solved queries, since each row depends on others
  scan,      // writes of a block added up as far as each row
  gathered,  // writes or gradients of a block, added up over its rows
  carry,     // the memory for the next block

  // A memory that is a network, and its gradient.
  hidden,           // the inputs and outputs of hidden units
  prediction,       // for the key, with the weights at the start of the batch
  standardise,      // a layer norm
  mismatch,         // the error of a normalised prediction
  gradient,         // of the loss at the prediction
  hidden_gradient,  // of the loss at the hidden units
  learn,            // a parameter after its step

  // The path of a query.
  scores,       // query-key products, masked or decayed
  inter,        // what comes from the memory carried in
  intra,        // what comes from inside the block
  ask,          // a read of the memory on the way to the output
  output,       // what comes out
  normalise,    // weighted values divided by the sum of weights
  peak,         // softmax: the largest score so far,
  weights,      // the weight of each value,
  denominator,  // the sum of weights, and
  numerator,    // of weighted values
  check,        // a check of a solution

  // Normalisation of a step.
  orthogonalise,   // Muon: all directions learn equally fast
  restore_lengths  // columns of the memory keep their norm
};

/// One kind of step: a definition, and what it means to the reader.
struct Operation {
  std::string id;        // "decay", "read", "error", ... ; unique in its phase
  Purpose purpose;       // what it is for, in whatever rule and form
  std::string title;     // "Prediction"
  std::string sentence;  // what the step does, in one sentence; {token} stands for the label at the cursor
  Equation equation;     // the tensor it makes, and from what
  bool by_row = false;   // made one row at a time: the cursor walks through the rows
};

/// One line of pictures on the Stage: an equation in which the results of several operations are written out.
struct Line {
  std::string title;
  std::string sentence;
  Equation equation;                    // definitions of inner operations are named subexpressions
  std::vector<std::string> operations;  // ids of the operations that this line contains, in order
  double weight = 1;                    // share of the height
};

/// How a result of an earlier block becomes an operand of a later one. Before any block made `from`, and
/// where no carry applies, the operand is the recorded initial one.
struct Carry {
  enum class When {
    always,
    starting_anew,  // in blocks that start an inner batch or a row of tiles anew
    going_on,       // in the others
    same_tokens,    // from the block of an earlier phase that covers the same tokens
  };

  std::string from;  // a tensor of the latest earlier block that has it
  std::string to;    // the operand
  When when = When::always;
  bool starts_empty = false;  // before any block made `from`, 0 instead of the recorded one

  bool operator==(const Carry&) const = default;
};

/// Steps that repeat for every block: one token (recurrent), one chunk (chunkwise) or the sequence
/// (parallel).
struct Phase {
  std::string title;
  std::vector<Operation> operations;
  std::vector<Line> lines = {};
  std::vector<Carry> carries = {};
};

/// The operation of `phase` that makes `tensor`; null if the data give it.
const Operation* maker_of(const Phase& phase, const std::string& tensor);

/// A position: a block, one of its operations, and a row of it (the token first_token + row). An operation
/// that makes all rows at once keeps the chosen row; one that goes through the rows has made those up to it.
struct Cursor {
  Index block = 0;
  Index operation = 0;
  Index row = 0;
  Index entered = 0;  // the row at which stepping came to the operation that goes through the rows

  auto operator<=>(const Cursor&) const = default;
};

/// How the tokens of a form are grouped: group n begins at token n size.
struct Groups {
  enum class Kind { batches, chunks, whole };

  Kind kind = Kind::chunks;
  Index size = 1;
};

/// Inner batches of `batch` tokens where the rule has them (more than 1), else chunks, else the whole
/// sequence (parallel).
Groups groups_of(Form form, Index tokens, Index chunk_size, Index batch);

/// All steps of one form of one sequence, known without computing anything; the values of a block are
/// computed on demand from the nearest checkpoint, by the engine itself. Stepping backwards gives
/// bit-identical values.
class Trace {
 public:
  virtual ~Trace() = default;

  Form form = Form::recurrent;
  Index tokens = 0;
  Groups groups;
  std::vector<Phase> phases;
  Symbols symbols;

  virtual Index block_count() const = 0;
  /// What block `index` covers; 0 <= index < block_count().
  virtual Block block(Index index) const = 0;
  /// The first block of `phase` that covers `token`.
  virtual Index block_of(Index token, Index phase) const = 0;
  /// Every tensor of block `index`, as the engine computed it. The reference is valid until the next call.
  virtual const Record& record(Index index) = 0;

  /// The same, to keep. Several threads may ask at once: one computes, the others wait. Throws Cancelled when
  /// asked to stop.
  virtual std::shared_ptr<const Record> shared_record(Index index, std::stop_token stop = {}) const = 0;

  /// The result of the whole form, where computing records produced it (the parallel form, once prepared);
  /// else null.
  virtual const Output* output() const { return nullptr; }

  /// The states by the names of Variant::states, taken from tensors as `latest` holds them: each as the last
  /// block that has it left it. `latest` may come from another run of these steps (core/steps/interpreted.h).
  virtual NamedStates states(const Record& latest) const = 0;

  /// Computes ahead what makes record() fast: the checkpoints, and the record of the parallel form.
  /// Returns early, with nothing lost, when asked to stop.
  virtual void prepare(std::stop_token stop) = 0;

  /// The name of a state after a block: S_after of a token, S_out of a chunk or the sequence.
  std::string after(const std::string& state) const {
    return state + (form == Form::recurrent ? "_after" : "_out");
  }

  const Phase& phase(const Block& block) const { return entry(phases, block.phase); }
  const Operation& operation(const Cursor& cursor) const;
  Index token(const Cursor& cursor) const { return block(cursor.block).first_token + cursor.row; }
  /// First and last position. An empty sequence has no blocks: both are the default cursor.
  Cursor first() const { return {}; }
  Cursor last() const;

  /// The next position one operation (or row of a by_row operation) on; unchanged at the end. The token stays
  /// where the operation has a row for it; a block that has none begins at its first token. So the token goes
  /// back only where a phase passes over tokens again that an earlier one has passed.
  Cursor next(Cursor cursor) const;
  /// The previous position: undoes next() inside a block, and everywhere on the way from first() to last().
  Cursor previous(Cursor cursor) const;
  /// The same operation at `token`, clamped to the sequence.
  Cursor at_token(const Cursor& cursor, Index token) const;
  /// The same operation one chunk of `chunk_size` tokens on or back: the first token of that chunk.
  Cursor at_chunk(const Cursor& cursor, Index chunk_size, int direction) const;
};

struct Steps;

template <class Scalar>
class Walk;

/// A trace whose blocks are computed when they are asked for; the last ones are kept.
class ComputedTrace : public Trace {
 public:
  const Record& record(Index index) final { return *shared_record(index); }
  std::shared_ptr<const Record> shared_record(Index index, std::stop_token stop = {}) const final;
  void prepare(std::stop_token stop) final;
  const Output* output() const final { return output_ ? &*output_ : nullptr; }

 protected:
  /// `kept`: how many records, at least 1.
  explicit ComputedTrace(std::size_t kept = 1) : kept_(kept) {}

  /// Every tensor of block `index`. May throw Cancelled when stop() asks for it.
  virtual Record compute(Index index) const = 0;
  /// Computes ahead the states that are kept.
  virtual void prepare_states() const {}
  /// Asks to stop what is being computed.
  const std::stop_token& stop() const { return stop_; }

  mutable std::optional<Output> output_;  // of the whole form, once computing a record has produced it

 private:
  struct Kept {
    Index block = -1;
    std::shared_ptr<const Record> record = {};
  };
  /// Waits until nobody computes. Who waits comes before who has just computed, who may want to go on.
  std::unique_lock<std::mutex> turn() const;

  mutable std::mutex next_;         // held by who comes next
  mutable std::mutex computing_;    // held while a record is computed
  mutable std::vector<Kept> kept_;  // the latest first
  mutable std::stop_token stop_;
};

/// The trace of a walk: carried matrices kept every few blocks within `budget` bytes, the rest recomputed
/// from the nearest ones by the same engine.
template <class Scalar>
std::unique_ptr<Trace> make_walk_trace(std::unique_ptr<const Walk<Scalar>> walk, Steps steps, Groups groups,
                                       std::size_t budget);

}  // namespace palimpsest
