#pragma once

#include "core/operator/channel.h"

namespace palimpsest {

/// Which weights are asked for: those of some tokens' outputs (rows) on some tokens' values (columns).
struct AttentionWindow {
  Index first_row = 0;
  Index rows = 0;
  Index row_step = 1;  // from one row's token to the next one's
  Index first_column = 0;
  Index columns = 0;
  Index channel = 0;     // of the values: where they decay, each has weights of its own
  bool initial = false;  // also what the initial state adds
  bool no_mask = false;  // every row reads after the last token, later tokens included

  Index token(Index row) const { return first_row + row * row_step; }
  /// How many tokens the rows are spread over.
  Index span() const { return rows == 0 ? 0 : (rows - 1) * row_step + 1; }
};

/// How outputs come from the values, spec 1.2: o = A w + A+ v+ + Q0 S_0 in one value channel, with w and v+
/// what the rows write (mostly v itself; Program::v and v_plain), h rows per token. Where a rule divides its
/// outputs, the weights are the divided ones.
struct EffectiveAttention {
  Index rows_per_token = 1;          // h
  Matrix<double> A = {};             // [rows, columns h]: what an erased-and-corrected write weighs
  Matrix<double> A_plain = {};       // [rows, columns h]: what a second, plain write weighs; else empty
  bool values_are_plain = false;     // the values are only written plainly: w is 0
  Matrix<double> Q0 = {};            // [rows, p K], the effective initial queries, if asked for
  Vector<double> denominators = {};  // [rows], where the rule divides

  /// The weights of the values: A, or A+ where they are written plainly.
  const Matrix<double>& on_values() const { return values_are_plain ? A_plain : A; }
  /// The same, a token's rows added up: [rows, columns].
  Matrix<double> on_tokens() const;
};

/// The weights of a window, without the n x n matrix. Either the window's queries are carried back through
/// the rows (the transpose of the recurrence), and their products with a row's write are its weights; or,
/// where there are fewer columns than rows and no `initial`, the columns' writes are carried on to the
/// queries. O(min(rows, columns h) span p K) work, span from the last row read to the first column (to the
/// first token with `initial` or a denominator); memory O((rows + columns h + 64) p K + 64 V + rows columns
/// h). Throws Cancelled when asked to stop.
EffectiveAttention effective_attention(const std::function<Channel(Index column)>& channel_of,
                                       const AttentionWindow& window, const std::stop_token& stop = {});

/// Throws InputError naming what lies outside, and the valid range.
void require_window(const AttentionWindow& window, Index tokens, Index channels);

}  // namespace palimpsest
