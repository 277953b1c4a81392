// The random features of FAVOR+ (spec 3.3), for a token's column and for rows of tokens.

#include <cmath>

#include "core/formula/functions/rows.h"

namespace palimpsest {

namespace {

/// [m, 1] of one vector x [K, 1].
Matrix<double> of_vector(const Matrix<double>& x, const Matrix<double>& directions) {
  const double half_length = x.squaredNorm() / 2;
  Matrix<double> features(directions.rows(), 1);
  for (Index r = 0; r < features.rows(); ++r)
    features(r, 0) = std::exp(directions.row(r).dot(x.col(0)) - half_length) / std::sqrt(directions.rows());
  return features;
}

Matrix<double> favor(Arguments a) { return of_vector(a[0], a[1]); }

Matrix<double> row_favor(Arguments a) {
  Matrix<double> features(a[0].rows(), a[1].rows());
  for (Index i = 0; i < features.rows(); ++i)
    features.row(i) = of_vector(a[0].row(i).transpose(), a[1]).transpose();
  return features;
}

/// exp(sum_d omega_d x_d - sum_d x_d^2 / 2) / sqrt(m); x(d) is channel d.
Term explain(CallCell& cell, Index feature, Index channels, const std::function<Term(Subscript)>& x) {
  const double m = static_cast<double>(cell.shape(1).rows);
  cell.reads(1, feature, 0, 1, channels);
  const Term along = sum({.count = channels,
                          .letter = 'd',
                          .value = [&](Index d) { return cell.value(1, feature, d) * x(d).value; },
                          .term = [&](const Subscript& d) { return cell.at(1, feature, d) * x(d); }});
  const Term length = sum({.count = channels,
                           .letter = 'd',
                           .value = [&](Index d) { return x(d).value * x(d).value; },
                           .term = [&](const Subscript& d) { return x(d) * x(d); }});
  return exp(worked_out(along) - worked_out(length) / number(2)) / number(std::sqrt(m));
}

Term explain_favor(CallCell& cell) {
  const Index K = cell.shape(0).rows;
  cell.reads(0, 0, 0, K, 1);
  return explain(cell, cell.row(), K, [&](const Subscript& d) { return cell.at(0, d, 0); });
}

Term explain_row_favor(CallCell& cell) {
  const Index K = cell.shape(0).columns;
  cell.reads(0, cell.row(), 0, 1, K);
  return explain(cell, cell.column(), K, [&](const Subscript& d) { return cell.at(0, cell.row(), d); });
}

}  // namespace

std::vector<Function> favor_functions() {
  const Pattern pattern = {R"(\tfrac{1}{\sqrt m}\exp\left(#2\,#1 - \tfrac12\|#1\|^2\right))",
                           Precedence::product, Precedence::atom};
  const char* words =
      "how far the vector goes along each random direction, less half its squared length, as an exponential";
  return {function("features/favor", "[K, 1], [M, K] -> [M, 1]", pattern, favor, explain_favor, words),
          function("row_features/favor", "[L, K], [M, K] -> [L, M]", pattern, row_favor, explain_row_favor,
                   words)};
}

}  // namespace palimpsest
