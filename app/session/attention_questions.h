#pragma once

#include "app/session/memory_questions.h"
#include "core/insight/attention_band.h"

// The questions of Attend: the weights of values in outputs.

namespace palimpsest {

/// Whose weights.
enum class WeighedBy { rule, softmax };

/// Which weights are computed.
struct Reading {
  WeighedBy by = WeighedBy::rule;
  double sharpness = 0;      // of softmax; 0: usual_sharpness()
  bool gates_are_1 = false;  // the rule without decay
  auto operator<=>(const Reading&) const = default;
};

/// The value channel to show: that of the view, or the last one if there are fewer.
Index asked_channel(const AttentionView& view, const Sequence& sequence);

/// A part of the picture as it is drawn.
struct DrawnPart {
  Matrix<double> weights;     // [rows, cells]: the weight of largest magnitude in each cell
  Matrix<double> shares;      // likewise: |w| / sum |w| of the row, with the sign of w
  double weight_range = 0;    // bound of all but a few weights, including those not shown
  double share_range = 0;     // the same for shares
  std::uint64_t version = 0;  // unique
};

/// A part of the picture: a question.
struct AttentionPart {
  Weak<Foundation> of = {};
  Reading reading = {};
  BandPlace place = {};
  Index rows_per_cell = 1;                    // rows that are shown as one; the last cell may have fewer
  std::string subject() const { return {}; }  // no other part is shown in its place
  auto operator<=>(const AttentionPart&) const = default;
  Found<DrawnPart> compute(const Foundation& foundation, const Effort& effort) const;
};

/// What became of a token's write: how much of its value its key still retrieves.
struct LeftOfWrite {
  std::vector<double> shares = {};  // after its own token, the next, ... the current one; empty: not finite
  Index lost_most_at = -1;          // the token with the largest loss; -1: no loss
  double lost_there = 0;
  bool is_erased = false;  // the loss there is more than decay
  bool is_much = false;    // the loss there is a large part of the write
};

/// A token that is read.
struct ReadWord {
  Index token = 0;
  double share = 0;  // of the output's weights, signed
  double softmax_share = 0;
  std::optional<LeftOfWrite> left = {};  // nothing if there is no memory to query
};

/// The weights of one token's output.
struct RowOfWeights {
  Vector<double> weights = {};          // [T]; of tokens after its own only in an inner batch
  Vector<double> softmax_weights = {};  // [T]; empty without softmax beside the rule
  double total = 0;                     // sum |w|
  std::string reason = {};              // why the rule has no weights; empty if it has
  std::vector<ReadWord> words = {};     // largest weights in descending order, without the token itself
  double together = 0;                  // sum of |share| of these tokens
  double softmax_together = 0;
  Index softmax_most = -1;  // the other token with the largest softmax weight; -1: none
  double subtracts = 0;     // share of the weights below 0

  /// The token with the largest positive weight; null if no other token is read.
  const ReadWord* read_most() const;
};

/// The weights of a token's output: a question.
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
  std::string reason = {};      // why its outputs are no weighted sums of values; empty if they are
  std::string no_softmax = {};  // why there is no softmax beside it; empty if there is
  bool has_gates = false;       // that can be set to 1
  bool is_finished = false;     // the output is made of what the memory returns, whose weights these are
  bool by_channel = false;      // every value channel has weights of its own
  double usual_sharpness = 1;   // of softmax beside it
};

/// These facts: a question.
struct FactsOfAttention {
  Weak<Foundation> of = {};
  auto operator<=>(const FactsOfAttention&) const = default;
  Found<AttentionFacts> compute(const Foundation& foundation, const Effort& effort) const;
};

/// The visible part of all weights: as many rows as columns.
struct AttentionBlock {
  Index first_row = 0;
  Index first_column = 0;
  Index count = 0;
  bool operator==(const AttentionBlock&) const = default;
};

/// The parts in which the picture of a block is computed.
struct AttentionParts {
  std::optional<BandPlace> coarse = {};  // of a large block: a sample of rows, each shown in place of several
  std::vector<BandPlace> fine = {};      // all rows, or some of the rows of each pixel; those nearest to the
                                         // current token come last
  Index rows_per_cell = 1;               // rows of fine parts that are shown as one
};

/// The parts of a block drawn `pixels` wide, in a sequence of `tokens` tokens; `present` is the current one.
AttentionParts attention_parts(const AttentionBlock& block, Index tokens, Index pixels, Index present);

}  // namespace palimpsest
