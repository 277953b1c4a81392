#include "core/insight/attention_band.h"

#include "core/rules/effective_attention.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

constexpr Index rows_at_a_time = 64;

/// Which of two numbers a common cell shows: that of larger magnitude, NaN before all others.
double stronger(double x, double y) {
  if (std::isnan(x)) return x;
  return std::isnan(y) || std::abs(y) > std::abs(x) ? y : x;
}

/// The weights of some rows on tokens 0, 1, ... as a part of the band.
void add_rows(AttentionBand& band, const Matrix<double>& weights, const BandPlace& place, Index first) {
  for (Index row = 0; row < weights.rows(); ++row) {
    band.totals(first + row) = weights.row(row).cwiseAbs().sum();
    band.negative(first + row) = -weights.row(row).cwiseMin(0).sum();
    const Index own = place.token(first + row);
    const Index end = std::min(place.first_column + place.columns, weights.cols());
    for (Index column = place.first_column; column < end; ++column) {
      if (place.no_diagonal && column == own) continue;
      double& cell = band.strongest(first + row, (column - place.first_column) / place.tokens_per_cell);
      cell = stronger(cell, weights(row, column));
    }
  }
}

}  // namespace

AttentionBand attention_band(const Rule& rule, const Sequence& sequence, const BandPlace& place,
                             std::stop_token stop) {
  if (place.tokens_per_cell < 1) refuse("{} tokens per cell; expected at least 1", place.tokens_per_cell);
  require_window({.first_row = place.first_row,
                  .rows = place.rows,
                  .row_step = place.row_step,
                  .first_column = place.first_column,
                  .columns = place.columns,
                  .channel = place.channel},
                 sequence.tokens, sequence.dv);
  AttentionBand band{.strongest = Matrix<double>::Zero(place.rows, place.cells()),
                     .totals = Vector<double>::Zero(place.rows),
                     .negative = Vector<double>::Zero(place.rows)};
  for (Index first = 0; first < place.rows; first += rows_at_a_time) {
    const Index count = std::min(rows_at_a_time, place.rows - first);
    const AttentionWindow window{.first_row = place.token(first),
                                 .rows = count,
                                 .row_step = place.row_step,
                                 .columns = sequence.tokens,  // an inner batch reads later tokens of its own
                                 .channel = place.channel,
                                 .no_mask = place.no_mask};
    add_rows(band, rule.effective_attention(sequence, window, stop).on_tokens(), place, first);
  }
  return band;
}

Matrix<double> shares_of_rows(const AttentionBand& band) {
  const Vector<double> parts =
      band.totals.unaryExpr([](double total) { return total == 0 ? 0.0 : 1 / total; });
  return parts.asDiagonal() * band.strongest;
}

Matrix<double> strongest_of_rows(const Matrix<double>& numbers, Index rows_per_cell) {
  if (rows_per_cell < 1) refuse("{} rows per cell; expected at least 1", rows_per_cell);
  Matrix<double> strongest =
      Matrix<double>::Zero((numbers.rows() + rows_per_cell - 1) / rows_per_cell, numbers.cols());
  for (Index row = 0; row < numbers.rows(); ++row) {
    auto cells = strongest.row(row / rows_per_cell);
    cells = cells.binaryExpr(numbers.row(row), &stronger).eval();
  }
  return strongest;
}

bool weighs_by_channel(const Rule& rule, const Sequence& sequence) try {
  return rule.channel(sequence, 0).rows(0, 0).structure.value_decay;
} catch (const Unsupported&) {
  return false;
}

Sequence softmax_beside(const Sequence& sequence, double sharpness) {
  if (!std::isfinite(sharpness)) refuse("the sharpness is {}; expected a number", sharpness);
  if (!sequence.has("k"))
    throw Unsupported("This rule makes its keys from its gates, so softmax has no keys to use.");
  auto arrays = std::make_shared<Arrays>();
  for (const char* name : {"q", "k", "v"}) {
    const Matrix<double> rows = sequence.at(name).all<double>();
    arrays->insert_or_assign(name, array_of(rows, {rows.rows(), rows.cols()}));
  }
  const Variant& softmax = find_variant("softmax");
  return bind(softmax, std::move(arrays), {.parameters = {{"scale", sharpness}}}).heads.front();
}

double usual_sharpness(const Sequence& sequence) {
  constexpr double rounding = 1e-3;  // of keys in half precision
  const double root = std::sqrt(static_cast<double>(std::max<Index>(sequence.dk, 1)));
  if (!sequence.has("k")) return 1 / root;
  const Vector<double> lengths = sequence.at("k").all<double>().rowwise().norm();
  const bool are_of_length_one = lengths.size() > 0 && ((lengths.array() - 1).abs() < rounding).all();
  return are_of_length_one ? root : 1 / root;
}

}  // namespace palimpsest
