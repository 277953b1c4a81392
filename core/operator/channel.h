#pragma once

#include <numeric>

#include "core/base/refuse.h"
#include "core/operator/program.h"

namespace palimpsest {

/// Queries of some tokens, [R, p K], and how many rows are written when each of them reads.
struct ChannelReads {
  Matrix<double> q;
  std::vector<Index> after;
};

/// The sum of weights by which a rule divides its outputs.
struct Denominator {
  Index column = 0;  // the column of the memory that adds them up
  double eps = 0;
};

/// One column of a state [p K, columns] over a sequence, in f64. Where outputs are linear in the values, the
/// columns do not interact (spec 1.4): each is a row program with a single value channel. Must not outlive
/// its rule.
struct Channel {
  Index tokens = 0;
  Index rows_per_token = 1;
  Matrix<double> initial = {};  // [p K, 1]
  /// The rows of these tokens, v [N, 1]. Their queries are those of reads().
  std::function<Program<double>(Index first, Index count)> rows = {};
  std::function<ChannelReads(Index first, Index count)> reads = {};
  bool reads_at_its_time = false;  // queries depend on the state at their token and cannot read a later one
  double skip = 0;                 // the factor of the token's own value in o, besides the memory
  std::optional<Denominator> denominator = {};
};

/// `after` where every token is one row and reads after its own write.
inline std::vector<Index> rows_up_to_each(Index first, Index count) {
  std::vector<Index> after(static_cast<std::size_t>(count));
  std::iota(after.begin(), after.end(), first + 1);
  return after;
}

/// The scaled queries of such tokens.
inline ChannelReads scaled_reads(const Sequence& sequence, Index first, Index count) {
  return {Rows<double>{sequence, first, count}.scaled_q(), rows_up_to_each(first, count)};
}

/// Throws InputError unless 0 <= column < columns.
inline void require_column(Index column, Index columns) {
  if (column >= 0 && column < columns) return;
  refuse("column {} of the memory; expected one of 0 .. {}", column, columns - 1);
}

}  // namespace palimpsest
