#pragma once

#include "app/session/memory_questions.h"
#include "core/insight/attention_band.h"

// What Attend asks for: what outputs weigh values with.

namespace palimpsest {

/// Whose weights.
enum class WeighedBy { rule, softmax };

/// What is read how.
struct Reading {
  WeighedBy by = WeighedBy::rule;
  double sharpness = 0;      // of softmax; 0: usual_sharpness()
  bool gates_are_1 = false;  // the rule as if nothing faded

  auto operator<=>(const Reading&) const = default;
};

/// The value channel that is asked for: the one that the view wants, or where there are not so many the last.
Index asked_channel(const AttentionView& view, const Sequence& sequence);

/// A part of the picture as it is drawn.
struct DrawnPart {
  Matrix<double> weights;     // [rows, cells]: of a cell's the one of largest magnitude
  Matrix<double> shares;      // likewise: |w| / sum |w| of their row, with the sign of w
  double weight_range = 0;    // what all but a few weights lie within, also of those not shown
  double share_range = 0;     // and shares
  std::uint64_t version = 0;  // no other part has it
};

/// A part of the picture: a question.
struct AttentionPart {
  Weak<Foundation> of = {};
  Reading reading = {};
  BandPlace place = {};
  Index rows_per_cell = 1;  // of the place that are shown as one; the last cell may have fewer

  std::string subject() const { return {}; }  // another part never stands for it
  auto operator<=>(const AttentionPart&) const = default;
  Found<DrawnPart> compute(const Foundation& foundation, const Effort& effort) const;
};

/// What became of a word's write since it was made: how much of its value its key still finds.
struct LeftOfWrite {
  std::vector<double> shares = {};  // after its own token, the next, ... the present one; empty: no numbers
  Index lost_most_at = -1;          // the token that took most of it; -1: none took anything
  double lost_there = 0;
  bool is_erased = false;  // more than the gate took there,
  bool is_much = false;    // a large part of it
};

/// A word that is read.
struct ReadWord {
  Index token = 0;
  double share = 0;  // of the output's weights, with the sign of its own
  double softmax_share = 0;
  std::optional<LeftOfWrite> left = {};  // nothing where no memory answers
};

/// What one token's output is made of.
struct RowOfWeights {
  Vector<double> weights = {};          // [T]; of tokens after its own only in an inner batch
  Vector<double> softmax_weights = {};  // [T]; empty where there is no softmax beside the rule
  double total = 0;                     // sum |w|
  std::string reason = {};              // why the rule has no weights; empty: it has
  std::vector<ReadWord> words = {};     // read most, the most in front; the own one never
  double together = 0;                  // |share| of these words
  double softmax_together = 0;
  Index softmax_most = -1;  // the token that softmax reads most, but the own; -1: none
  double subtracts = 0;     // share of the weights below 0

  /// The word of the largest weight above 0; nothing where no other token is read.
  const ReadWord* read_most() const;
};

/// What is read at a token.
struct RowAtToken {
  Weak<Foundation> of = {};
  Index token = 0;
  double sharpness = 0;  // as in Reading
  Index channel = 0;

  auto operator<=>(const RowAtToken&) const = default;
  Found<RowOfWeights> compute(const Foundation& foundation, const Effort& effort) const;
};

/// What can be shown of a rule's weights.
struct AttentionFacts {
  std::string reason = {};      // why its outputs are no weighted sums of values; empty: they are
  std::string no_softmax = {};  // why there is none beside it; empty: there is
  bool has_gates = false;       // that can be set to 1
  bool by_channel = false;      // every value channel has weights of its own
  double usual_sharpness = 1;   // of softmax beside it
};

/// These facts: a question.
struct FactsOfAttention {
  Weak<Foundation> of = {};
  auto operator<=>(const FactsOfAttention&) const = default;
  Found<AttentionFacts> compute(const Foundation& foundation, const Effort& effort) const;
};

/// Which part of all weights is looked at: as many rows as columns.
struct AttentionBlock {
  Index first_row = 0;
  Index first_column = 0;
  Index count = 0;

  bool operator==(const AttentionBlock&) const = default;
};

/// The parts in which the picture of a block is asked for.
struct AttentionParts {
  std::optional<BandPlace> coarse = {};  // of a large block: a few rows that stand for those below them
  std::vector<BandPlace> fine = {};      // every row, or of a pixel that stands for many rows some of them;
                                         // those nearest to the present one last
  Index rows_per_cell = 1;               // of the fine parts' rows are shown as one
};

/// Of a block that `pixels` show in width, over a sequence of `tokens` tokens.
AttentionParts attention_parts(const AttentionBlock& block, Index tokens, Index pixels, Index present);

}  // namespace palimpsest
