// Solves with Gram matrices plus a ridge: symmetric, positive definite.

#include <fmt/format.h>

#include <Eigen/Cholesky>

#include "core/formula/functions/rows.h"

namespace palimpsest {

namespace {

/// M^{-1} X; nothing where there is nothing to solve, which Eigen's solver does not expect.
Matrix<double> solved(const Matrix<double>& M, const Matrix<double>& X) {
  if (X.size() == 0) return X;
  return M.ldlt().solve(X);
}

Matrix<double> solve_symmetric(Arguments a) { return solved(a[0], a[1]); }

/// The matrix of row i: g_i H + sum_j W_ij x_j x_j^T + R.
Matrix<double> gram_of_row(Arguments a, Index i) {
  const Matrix<double>& X = a[3];
  return a[0](i, 0) * a[1] + X.transpose() * a[2].row(i).asDiagonal() * X + a[4];
}

Matrix<double> solve_grams(Arguments a) {
  Matrix<double> result = a[5];
  for (Index i = 0; i < result.rows(); ++i) {
    result.row(i) = solved(gram_of_row(a, i), a[5].row(i).transpose()).transpose();
  }
  return result;
}

/// One unknown of M x = y once the others are known: (y_d - sum_{e != d} M_de x_e) / M_dd.
template <class Entry, class Unknown>
Term unknown_from_others(const Term& right_side, Index d, Index count, Entry entry, Unknown unknown) {
  const auto other = [d](Index n) { return n < d ? n : n + 1; };
  const Term diagonal = entry(Subscript(d));
  if (count == 1) return right_side / diagonal;
  const Term others = sum({.count = count - 1,
                           .letter = 'j',
                           .value =
                               [&](Index n) {
                                 const Subscript j(other(n));
                                 return entry(j).value * unknown(j).value;
                               },
                           .term =
                               [&](const Subscript& n) {
                                 const Subscript j(other(n.index), n.letter);
                                 return entry(j) * unknown(j);
                               }},
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

}  // namespace

std::vector<Function> gram_functions() {
  return {
      function("solve_symmetric", "[K, K], [K, D] -> [K, D]",
               {"#1^{-1} #2", Precedence::product, Precedence::atom}, solve_symmetric,
               explain_solve_symmetric, "what the matrix on the left must be given to answer the right side"),
      function(
          "solve_grams", "[L, 1], [K, K], [L, L], [L, K], [K, K], [L, K] -> [L, K]",
          {R"(\left[\left(#1_{i} #2 + \sum_{j} #3_{ij} #4_{j}^{\otimes 2} + #5\right)^{-1} #6_{i}\right]_{i})",
           Precedence::atom, Precedence::atom},
          solve_grams, explain_solve_grams,
          "each query through the inverse of its own token's matrix: the Gram matrix of all keys so far, "
          "faded, and the ridge"),
  };
}

}  // namespace palimpsest
