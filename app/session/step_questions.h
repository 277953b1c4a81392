#pragma once

#include "app/session/computation.h"
#include "core/insight/provenance.h"
#include "core/insight/spectra.h"

// What is asked about a step: its record, a picture of it, who made a number.

namespace palimpsest {

/// Every tensor of one block of a form: a question.
struct BlockRecord {
  Weak<Trace> of = {};
  Index block = 0;

  auto operator<=>(const BlockRecord&) const = default;
  Found<Record> compute(const Trace& trace, const Effort& effort) const;
};

/// What can be said of a tensor of a record besides its entries, for the picture that a person enlarges.
struct PictureFigures {
  static constexpr Index parts = 48;  // of the histogram

  Weak<Record> of = {};
  std::string tensor = {};

  auto operator<=>(const PictureFigures&) const = default;
  Found<MatrixFigures> compute(const Record& record, const Effort& effort) const;
};

/// A number that a memory holds, or answers, and that the tokens before made together.
struct WrittenNumber {
  Index tokens = 0;  // of the memory after so many
  Index row = 0;     // an entry of it; not where there are weights
  Index column = 0;
  std::vector<double> weights = {};  // of the rows, of a reading w . S[:, column]; empty: an entry

  auto operator<=>(const WrittenNumber&) const = default;
};

/// What a token's writing came to.
struct WriterShare {
  Index token = 0;       // initial_token: the memory at the start
  double remaining = 0;  // of the number, due to it
  Share share = {};      // of an entry: what was written, and what became of it
  Index eraser = -1;     // the token that took most of it away; -1: none did
  double erased_by = 0;  // how much
};

/// Who made a number, in the order of the text.
struct WhoWroteIt {
  double value = 0;
  std::vector<WriterShare> strongest;  // those with the largest shares
  Index others = 0;                    // how many more there are, and
  double others_remaining = 0;         // what they come to together
};

/// Who made it: a question.
struct WhoWrote {
  Weak<Foundation> of = {};
  WrittenNumber number = {};
  std::size_t most = 7;  // tokens by name

  auto operator<=>(const WhoWrote&) const = default;
  Found<WhoWroteIt> compute(const Foundation& foundation, const Effort& effort) const;
  std::string subject() const { return subject_of_rule(of); }
};

/// What there is to see of a step: all of it belongs together, whatever is chosen meanwhile.
struct Sight {
  std::shared_ptr<const Computation> computation;  // null: nothing is open
  std::shared_ptr<const Trace> trace;              // null: there is no such form
  Cursor cursor;
  std::shared_ptr<const Record> record = {};  // of the block at the cursor; null: there is nothing to see yet

  bool operator==(const Sight&) const = default;
};

/// Whether the numbers of a place are of a run with a fault in it.
bool is_faulty(const Sight& sight);

/// Seconds: what has taken longer gives way to what is wanted now.
inline constexpr double nearly_there = 0.1;

/// Looks at the place that is wanted as soon as its record is computed, and until then at the last one. A
/// record that is nearly there is waited for although another is wanted by now: a cursor that runs is seen to
/// run.
class Lookout {
 public:
  /// Asks for the place that is wanted. One without a form or without steps is seen at once.
  void look(const Sight& wanted, Questions& questions);

  /// Waits for the record that was asked for last.
  void wait(Questions& questions) const;

  /// Ends the computing of the record that is waited for.
  void give_up(Questions& questions);

  /// What is to be seen now.
  const Sight& seen() const { return seen_; }

  /// Whether another place is wanted than is seen.
  bool is_stale() const { return is_stale_; }

  /// What the record has come to that was asked for last: how long it takes, or why there is none.
  const Known<Record>& awaited() const { return awaited_; }

 private:
  void see(const Sight& place, const Known<Record>& known);

  Sight seen_;
  std::optional<Sight> next_;  // the place whose record is waited for
  bool is_stale_ = false;
  Known<Record> awaited_;
};

/// The chunk sizes that are compared: 1, 2, 4, … and all of `tokens`.
std::vector<Index> swept_chunks(Index tokens);

/// The costs of all swept sizes in a form with chunks; empty where the rule does not say what it takes: a
/// question.
struct ChunkCosts {
  Weak<Foundation> of = {};
  Form form = Form::chunkwise;

  auto operator<=>(const ChunkCosts&) const = default;
  Found<std::vector<CostRow>> compute(const Foundation& foundation, const Effort& effort) const;
  std::string subject() const { return subject_of_rule(of); }
};

/// What every form takes of these data, counted, with the chunk size that is chosen, a row for each of
/// all_forms: a question.
struct FormCosts {
  Weak<Foundation> of = {};
  Index chunk_size = 1;

  auto operator<=>(const FormCosts&) const = default;
  Found<std::vector<CostRow>> compute(const Foundation& foundation, const Effort& effort) const;
  std::string subject() const { return subject_of_rule(of); }
};

/// How far the chunkwise form in float32 is from the f64 recurrence, for every chunk size of swept_chunks:
/// a question, measured. The reason where there is none: a missing form, or too many tokens.
struct ChunkErrors {
  Weak<Foundation> of = {};

  auto operator<=>(const ChunkErrors&) const = default;
  Found<std::vector<double>> compute(const Foundation& foundation, const Effort& effort) const;
  std::string subject() const { return subject_of_rule(of); }
};

}  // namespace palimpsest
