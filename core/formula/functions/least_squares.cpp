// Recursive least squares (spec 3.13): the inverse P of what the keys have shown, and the gains of the
// writes.

#include <fmt/format.h>

#include <Eigen/LU>

#include "core/formula/functions/rows.h"

namespace palimpsest {

namespace {

Matrix<double> inverse(const Matrix<double>& M) { return M.size() == 0 ? M : Matrix<double>(M.inverse()); }

/// P after the first `rows` rows of K by its definition, not by a recursion: with R = P^{-1} before them, the
/// inverse of R <- gamma_j R + beta_j k_j k_j^T.
Matrix<double> uncertainty_after(Arguments a, Index rows) {
  const Matrix<double>& K = a[1];
  Matrix<double> R = inverse(a[0]);
  for (Index j = 0; j < rows; ++j) R = a[2](j, 0) * R + a[3](j, 0) * K.row(j).transpose() * K.row(j);
  return inverse(R);
}

Matrix<double> uncertainty(Arguments a) { return uncertainty_after(a, a[1].rows()); }

Matrix<double> gains(Arguments a) {
  Matrix<double> result(a[1].rows(), a[1].cols());
  for (Index i = 0; i < result.rows(); ++i)
    result.row(i) = a[3](i, 0) * a[1].row(i) * uncertainty_after(a, i + 1);
  return result;
}

/// The same from the arguments of a call.
Matrix<double> uncertainty_after(CallCell& cell, Index rows) {
  std::vector<Matrix<double>> arguments = {whole(cell, 0)};
  for (const std::size_t i : {1, 2, 3}) arguments.push_back(first_rows(cell, i, rows));
  return uncertainty_after(arguments, rows);
}

Term explain_uncertainty(CallCell& cell) {
  const Index L = cell.shape(1).rows;
  const Matrix<double> P = uncertainty_after(cell, L);
  return symbol(fmt::format("(R({})⁻¹)[{},{}]", L, cell.row(), cell.column()), P(cell.row(), cell.column()));
}

Term explain_gains(CallCell& cell) {
  const Index i = cell.row();
  const Index d = cell.column();
  const Matrix<double> P = uncertainty_after(cell, i + 1);
  const Term along_key =
      sum({.count = P.cols(),
           .letter = 'j',
           .value = [&](Index j) { return P(d, j) * cell.value(1, i, j); },
           .term =
               [&](const Subscript& j) {
                 return symbol(fmt::format("P({})[{},{}]", i, d, j.text()), P(d, j.index)) * cell.at(1, i, j);
               }});
  return cell.at(3, i, 0) * along_key;
}

}  // namespace

std::vector<Function> least_squares_functions() {
  return {
      function("least_squares_inverse", "[K, K], [L, K], [L, 1], [L, 1] -> [K, K]",
               {R"(\left(#3_{1:L}\, #1^{-1} + \sum_{j} #3_{j+1:L}\, #4_{j}\, #2_{j}^{\otimes 2}\right)^{-1})",
                Precedence::product, Precedence::atom},
               uncertainty, explain_uncertainty,
               "the inverse of all that the keys have shown so far, older ones faded"),
      function(
          "least_squares_gains", "[K, K], [L, K], [L, 1], [L, 1] -> [L, K]",
          {R"(\left[#4_{i} \left(#3_{1:i}\, #1^{-1} + \sum_{j\le i} #3_{j+1:i}\, #4_{j}\, #2_{j}^{\otimes 2}\right)^{-1} #2_{i}\right]_{i})",
           Precedence::atom, Precedence::atom},
          gains, explain_gains,
          "each key through the inverse of all that the keys up to it have shown, older ones faded"),
  };
}

}  // namespace palimpsest
