// Solves, norms and singular values of whole matrices.

#include <fmt/format.h>
#include <Eigen/LU>

#include "core/formula/functions.h"
#include "core/numbers/matrix_functions.h"

namespace palimpsest {

namespace {

// Solves with Gram matrices plus a ridge: symmetric, positive definite.

/// M^{-1} X; an empty X is returned as it is, because Eigen's solver does not accept it.
Matrix<double> solved(const Matrix<double>& M, const Matrix<double>& X) {
  if (X.size() == 0) return X;
  return solved_symmetric(M, X);
}

Matrix<double> solve_symmetric(Arguments a) { return solved(a[0], a[1]); }

/// The matrix of row i is g_i H + sum_j W_ij x_j x_j^T + R.
Matrix<double> solve_grams(Arguments a) {
  const Matrix<double>& X = a[3];
  Matrix<double> result = a[5];
  for (Index i = 0; i < result.rows(); ++i) {
    const Matrix<double> M = a[0](i, 0) * a[1] + X.transpose() * a[2].row(i).asDiagonal() * X + a[4];
    result.row(i) = solved(M, a[5].row(i).transpose()).transpose();
  }
  return result;
}

/// One unknown of M x = y once the others are known: (y_d - sum_{e != d} M_de x_e) / M_dd.
template <class Entry, class Unknown>
Term unknown_from_others(const Term& right_side, Index d, Index count, Entry entry, Unknown unknown) {
  const Term diagonal = entry(Subscript(d));
  if (count == 1) return right_side / diagonal;
  const auto product = [&](const Subscript& n) {
    const Subscript j(n.index < d ? n.index : n.index + 1, n.letter);
    return entry(j) * unknown(j);
  };
  const Term others = sum({.count = count - 1,
                           .letter = 'j',
                           .value = [&](Index n) { return product(n).value; },
                           .term = product},
                          fmt::format("Σ_{{j≠{}}}", d));
  return (right_side - others) / diagonal;
}

Term explain_solve_symmetric(CallCell& cell) {
  const Index d = cell.row();
  const Index K = cell.shape(0).rows;
  cell.reads(0, d, 0, 1, K);
  cell.reads_own(0, cell.column(), K, 1);
  return unknown_from_others(
      cell.at(1, d, cell.column()), d, K, [&](const Subscript& j) { return cell.at(0, d, j); },
      [&](const Subscript& j) { return cell.own(j, cell.column()); });
}

Term explain_solve_grams(CallCell& cell) {
  const Index i = cell.row();
  const Index d = cell.column();
  const Index L = cell.shape(3).rows;
  const Index K = cell.shape(3).columns;
  cell.reads(0, i, 0, 1, 1);
  cell.reads(1, d, 0, 1, K);
  cell.reads(2, i, 0, 1, L);
  cell.reads(3, 0, 0, L, K);
  cell.reads(4, d, 0, 1, K);
  cell.reads_own(i, 0, 1, K);
  const auto entry = [&](const Subscript& j) {
    double value = cell.value(0, i, 0) * cell.value(1, d, j.index) + cell.value(4, d, j.index);
    for (Index row = 0; row < L; ++row)
      value += cell.value(2, i, row) * cell.value(3, row, d) * cell.value(3, row, j.index);
    return symbol(fmt::format("H({})[{},{}]", i, d, j.text()), value);
  };
  return unknown_from_others(cell.at(5, i, d), d, K, entry,
                             [&](const Subscript& j) { return cell.own(i, j); });
}

// Recursive least squares (spec 3.13): P, the inverse of the decayed Gram matrix of the keys, and the gains.

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

Term explain_gains(CallCell& cell) {
  const Index i = cell.row();
  const Index d = cell.column();
  std::vector<Matrix<double>> arguments = {whole(cell, 0)};
  for (const std::size_t argument : {1, 2, 3}) arguments.push_back(first_rows(cell, argument, i + 1));
  const Matrix<double> P = uncertainty_after(arguments, i + 1);
  const auto product = [&](const Subscript& j) {
    return symbol(fmt::format("P({})[{},{}]", i, d, j.text()), P(d, j.index)) * cell.at(1, i, j);
  };
  return cell.at(3, i, 0) * sum({.count = P.cols(),
                                 .letter = 'j',
                                 .value = [&](Index j) { return P(d, j) * cell.value(1, i, j); },
                                 .term = product});
}

// Norms and singular values of matrices (spec 3.11).

Matrix<double> frobenius_norm(Arguments a) {
  return Matrix<double>::Constant(1, 1, std::sqrt(a[0].cwiseAbs2().sum()));
}

Matrix<double> column_norms(Arguments a) {
  Matrix<double> norms(a[0].cols(), 1);
  for (Index j = 0; j < norms.rows(); ++j) norms(j, 0) = std::sqrt(a[0].col(j).cwiseAbs2().sum());
  return norms;
}

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

Term explain_spectra(CallCell& cell) {
  const auto argument = static_cast<std::size_t>(cell.column());
  return symbol("σ" + std::to_string(cell.row() + 1) + "(" + cell.name(argument) + ")",
                singular_values(whole(cell, argument))(cell.row()));
}

}  // namespace

std::vector<Function> matrix_functions() {
  using enum Precedence;
  const auto restoring_factor = [](const auto& cell) {
    return cell.here(1) / (cell.here(0) + cell.at(2, 0, 0));
  };
  const auto inverse_words = [](const CallCell& cell) {
    return fmt::format("(R({})⁻¹)[{},{}]", cell.shape(1).rows, cell.row(), cell.column());
  };
  const auto is_wide = [](std::span<const Shape> a) { return a[0].rows <= a[0].columns; };
  return {
      function("solve_symmetric", "[K, K], [K, D] -> [K, D]", {"#1^{-1} #2", product, atom}, solve_symmetric,
               explain_solve_symmetric),
      function(
          "solve_grams", "[L, 1], [K, K], [L, L], [L, K], [K, K], [L, K] -> [L, K]",
          subscripted(
              R"(\left[\left(#1_{i} #2 + \sum_{j} #3_{ij} #4_{j}^{\otimes 2} + #5\right)^{-1} #6_{i}\right]_{i})"),
          solve_grams, explain_solve_grams),
      by_number(
          "least_squares_inverse", "[K, K], [L, K], [L, 1], [L, 1] -> [K, K]",
          {R"(\left(#3_{1:L}\, #1^{-1} + \sum_{j} #3_{j+1:L}\, #4_{j}\, #2_{j}^{\otimes 2}\right)^{-1})",
           product, atom},
          uncertainty, 4, inverse_words),
      function(
          "least_squares_gains", "[K, K], [L, K], [L, 1], [L, 1] -> [L, K]",
          subscripted(
              R"(\left[#4_{i} \left(#3_{1:i}\, #1^{-1} + \sum_{j\le i} #3_{j+1:i}\, #4_{j}\, #2_{j}^{\otimes 2}\right)^{-1} #2_{i}\right]_{i})"),
          gains, explain_gains),
      function("frobenius_norm", "[L, M] -> [1, 1]", {R"(\|#1\|)"}, frobenius_norm, explain_frobenius_norm),
      function("column_norms", "[L, D] -> [D, 1]", applied("colnorm"), column_norms, explain_column_norms),
      by_cell("restoring_factors", "[D, 1], [D, 1], [1, 1] -> [D, 1]",
              {R"(#2 / \left(#1 + #3\right))", hadamard, atom}, restoring_factor),
      only_where(function("spectra", "[L, M], [L, M], [L, M], [L, M], [L, M], [L, M] -> [L, 6]",
                          {R"(\left[\sigma\left(#1\right) \cdots \sigma\left(#6\right)\right])"}, spectra,
                          explain_spectra),
                 is_wide, "the matrices must not have more rows than columns"),
  };
}

}  // namespace palimpsest
