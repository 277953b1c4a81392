// Norms and singular values of matrices (spec 3.11).

#include "core/numbers/singular_values.h"

#include <cmath>

#include "core/base/error.h"
#include "core/formula/functions/rows.h"

namespace palimpsest {

namespace {

Matrix<double> number_matrix(double value) { return Matrix<double>::Constant(1, 1, value); }

Matrix<double> frobenius_norm(Arguments a) { return number_matrix(std::sqrt(a[0].cwiseAbs2().sum())); }

Matrix<double> column_norms(Arguments a) {
  Matrix<double> norms(a[0].cols(), 1);
  for (Index j = 0; j < norms.rows(); ++j) norms(j, 0) = std::sqrt(a[0].col(j).cwiseAbs2().sum());
  return norms;
}

Matrix<double> restoring_factors(Arguments a) { return a[1].array() / (a[0].array() + a[2](0, 0)); }

/// Column i holds the singular values of argument i.
Matrix<double> spectra(Arguments a) {
  Matrix<double> result(a[0].rows(), static_cast<Index>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i) result.col(static_cast<Index>(i)) = singular_values(a[i]);
  return result;
}

Term explain_frobenius_norm(CallCell& cell) {
  return sqrt(symbol("Σ " + cell.name(0) + "²", whole(cell, 0).cwiseAbs2().sum()));
}

Term explain_column_norms(CallCell& cell) {
  const Index column = cell.row();
  const Index count = cell.shape(0).rows;
  cell.reads(0, 0, column, count, 1);
  return sqrt(
      sum({.count = count,
           .value = [&](Index i) { return std::pow(cell.value(0, i, column), 2); },
           .term = [&](const Subscript& i) { return cell.at(0, i, column) * cell.at(0, i, column); }}));
}

Term explain_restoring_factors(CallCell& cell) {
  return cell.at(1, cell.row(), 0) / (cell.at(0, cell.row(), 0) + cell.at(2, 0, 0));
}

Term explain_spectra(CallCell& cell) {
  const auto argument = static_cast<std::size_t>(cell.column());
  return symbol("σ" + std::to_string(cell.row() + 1) + "(" + cell.name(argument) + ")",
                singular_values(whole(cell, argument))(cell.row()));
}

}  // namespace

std::vector<Function> newton_schulz_functions() {
  Function all_spectra =
      function("spectra", "[L, M], [L, M], [L, M], [L, M], [L, M], [L, M] -> [L, 6]",
               {R"(\left[\sigma\left(#1\right) \cdots \sigma\left(#6\right)\right])"}, spectra,
               explain_spectra, "how much the matrix stretches along each of its main directions");
  all_spectra.shape = [fits = all_spectra.shape](std::span<const Shape> arguments) {
    const Shape shape = fits(arguments);
    if (!arguments.empty() && arguments[0].rows > arguments[0].columns) {
      throw Error("spectra: shapes do not fit: the matrices must not have more rows than columns");
    }
    return shape;
  };
  return {
      function("frobenius_norm", "[L, M] -> [1, 1]", {R"(\|#1\|)"}, frobenius_norm, explain_frobenius_norm,
               "the root of the sum of all squares"),
      function("column_norms", "[L, D] -> [D, 1]", applied("colnorm"), column_norms, explain_column_norms,
               "the length of its column"),
      function("restoring_factors", "[D, 1], [D, 1], [1, 1] -> [D, 1]",
               {R"(#2 / \left(#1 + #3\right))", Precedence::hadamard, Precedence::atom}, restoring_factors,
               explain_restoring_factors, "the length that a column should have, over the one it has"),
      all_spectra,
  };
}

}  // namespace palimpsest
