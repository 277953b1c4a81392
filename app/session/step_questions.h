#pragma once

#include "app/session/computation.h"
#include "core/insight/provenance.h"
#include "core/insight/spectra.h"

// Questions about a step: its record, the figures of a picture, which tokens wrote a number.

namespace palimpsest {

/// Every tensor of one block of a form: a question.
struct BlockRecord {
  Weak<Trace> of = {};
  Index block = 0;
  auto operator<=>(const BlockRecord&) const = default;
  Found<Record> compute(const Trace& trace, const Effort& effort) const;
};

/// The figures of a tensor of a record (histogram, spectrum), for the enlarged picture.
struct PictureFigures {
  static constexpr Index parts = 48;  // bars of the histogram
  Weak<Record> of = {};
  std::string tensor = {};
  auto operator<=>(const PictureFigures&) const = default;
  Found<MatrixFigures> compute(const Record& record, const Effort& effort) const;
};

/// An entry of a memory, or a number that it returns: a sum over the earlier tokens.
struct WrittenNumber {
  Index tokens = 0;  // the memory after this many tokens
  Index row = 0;     // of the entry; unused if there are weights
  Index column = 0;
  std::vector<double> weights = {};  // w, one per row, of the read w . S[:, column]; empty: an entry
  auto operator<=>(const WrittenNumber&) const = default;
};

/// What remains of a token's write.
struct WriterShare {
  Index token = 0;       // initial_token: the initial state
  double remaining = 0;  // this token's part of the number
  Share share = {};      // of an entry: what was written, decayed and erased
  Index eraser = -1;     // the token that erased most of it; -1: none did
  double erased_by = 0;  // how much that token erased
};

/// The tokens that wrote a number, in the order of the text.
struct WhoWroteIt {
  double value = 0;
  std::vector<WriterShare> strongest;  // those with the largest shares
  Index others = 0;                    // the number of other tokens
  double others_remaining = 0;         // the sum of their parts
};

/// Which tokens wrote it: a question.
struct WhoWrote {
  Weak<Foundation> of = {};
  WrittenNumber number = {};
  std::size_t most = 7;  // tokens listed by name
  auto operator<=>(const WhoWrote&) const = default;
  Found<WhoWroteIt> compute(const Foundation& foundation, const Effort& effort) const;
  std::string subject(const Foundation& about) const { return subject_of_rule(about); }
};

/// What is shown of a step. Its members belong together, whatever is chosen meanwhile.
struct Sight {
  std::shared_ptr<const Computation> computation;  // null: nothing is open
  std::shared_ptr<const Trace> trace;              // null: there is no such form
  Cursor cursor;
  std::shared_ptr<const Record> record = {};  // of the block at the cursor; null: not computed yet
  bool operator==(const Sight&) const = default;
};

/// Whether the numbers are those of a run with a fault.
bool is_faulty(const Sight& sight);

/// Seconds: a record that has taken longer is cancelled in favour of the place that is wanted now.
inline constexpr double nearly_there = 0.1;

/// Shows the wanted place as soon as its record is computed, and the last place until then. A record that is
/// nearly finished is shown even if another one is wanted by now, so that a moving cursor is seen to move.
class Lookout {
 public:
  /// Requests a place. One without a form or without steps is shown at once.
  void look(const Sight& wanted, Questions& questions);

  /// Blocks until the record that was requested last is finished.
  void wait(Questions& questions) const;

  /// Cancels the record that is being computed.
  void give_up(Questions& questions);

  /// What is shown now.
  const Sight& seen() const { return seen_; }
  /// Whether the wanted place differs from the shown one.
  bool is_stale() const { return is_stale_; }
  /// The state of the record that was requested last: how long it has taken, or why there is none.
  const Known<Record>& awaited() const { return awaited_; }

 private:
  void see(const Sight& place, const Known<Record>& known);

  Sight seen_;
  std::optional<Sight> next_;  // the place whose record is being computed
  bool is_stale_ = false;
  Known<Record> awaited_;
};

/// The chunk sizes that are compared: 1, 2, 4, … and all of `tokens`.
std::vector<Index> swept_chunks(Index tokens);

/// The costs of all swept chunk sizes in a form with chunks; empty if the rule does not state its costs: a
/// question.
struct ChunkCosts {
  Weak<Foundation> of = {};
  Form form = Form::chunkwise;
  auto operator<=>(const ChunkCosts&) const = default;
  Found<std::vector<CostRow>> compute(const Foundation& foundation, const Effort& effort) const;
  std::string subject(const Foundation& about) const { return subject_of_rule(about); }
};

/// The counted costs of every form on these data with the chosen chunk size, a row for each of all_forms: a
/// question.
struct FormCosts {
  Weak<Foundation> of = {};
  Index chunk_size = 1;
  auto operator<=>(const FormCosts&) const = default;
  Found<std::vector<CostRow>> compute(const Foundation& foundation, const Effort& effort) const;
  std::string subject(const Foundation& about) const { return subject_of_rule(about); }
};

/// The measured difference of the chunkwise form in float32 from the f64 recurrence, for every chunk size of
/// swept_chunks: a question. If there is none, the reason: a missing form, or too many tokens.
struct ChunkErrors {
  Weak<Foundation> of = {};
  auto operator<=>(const ChunkErrors&) const = default;
  Found<std::vector<double>> compute(const Foundation& foundation, const Effort& effort) const;
  std::string subject(const Foundation& about) const { return subject_of_rule(about); }
};

}  // namespace palimpsest
