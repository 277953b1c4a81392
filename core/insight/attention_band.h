#pragma once

#include "core/rules/rule.h"

namespace palimpsest {

/// Which part of the picture of all weights is computed.
struct BandPlace {
  Index first_row = 0;
  Index rows = 0;
  Index row_step = 1;  // from one row's token to the next one's
  Index first_column = 0;
  Index columns = 0;
  Index tokens_per_cell = 1;  // columns that are shown as one; the last cell may have fewer
  Index channel = 0;          // of the values, where each has weights of its own
  bool no_diagonal = false;   // without the weight of a token's own value
  bool no_mask = false;       // every output reads the memory after the last token

  Index token(Index row) const { return first_row + row * row_step; }
  Index cells() const { return (columns + tokens_per_cell - 1) / tokens_per_cell; }
  auto operator<=>(const BandPlace&) const = default;
};

/// The weights of all tokens' values in some tokens' outputs, as a picture shows them.
struct AttentionBand {
  Matrix<double> strongest = {};  // [rows, cells]: of a cell's weights the one of largest magnitude
  Vector<double> totals = {};     // [rows]: sum |w| over all tokens, the own too: shares are parts of it
  Vector<double> negative = {};   // [rows]: sum |w| over the weights below 0
};

/// Costs what EffectiveAttention costs for these rows and all columns, 64 rows at a time. Throws as
/// Rule::effective_attention does, and InputError where tokens_per_cell < 1.
AttentionBand attention_band(const Rule& rule, const Sequence& sequence, const BandPlace& place,
                             std::stop_token stop = {});

/// Every weight as a share of its row, |w| / sum |w| with the sign of w; 0 in a row of zeros, 0 or
/// NaN where the sum is not finite.
Matrix<double> shares_of_rows(const AttentionBand& band);

/// Every `rows_per_cell` rows reduced to one, [ceil(rows / rows_per_cell), cells]: each cell is the number of
/// largest magnitude, or NaN if there is one. Throws InputError where rows_per_cell < 1.
Matrix<double> strongest_of_rows(const Matrix<double>& numbers, Index rows_per_cell);

/// Whether every value channel has weights of its own, because values decay.
bool weighs_by_channel(const Rule& rule, const Sequence& sequence);

/// Softmax attention over the same q, k and v, without earlier tokens: exp(sharpness q . k). Throws
/// InputError unless the sharpness is finite, Unsupported where a rule takes no keys.
Sequence softmax_beside(const Sequence& sequence, double sharpness);

/// The default sharpness: sqrt(K) where all keys have norm 1, else 1 / sqrt(K) as in a transformer.
double usual_sharpness(const Sequence& sequence);

}  // namespace palimpsest
