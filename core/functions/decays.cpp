// Masks, products of decays and the solve: what happens between the tokens of a chunk. Only products of
// decays, never a quotient or a logarithm, so that exact zeros and negative decays are right.

#include <fmt/format.h>

#include "core/functions/rows.h"

namespace palimpsest {

namespace {

/// Row j of the result is alpha_{j+1:i}, element by element, for the rows j <= i of one token i; later rows
/// are 0.
Matrix<double> decays_until(const Matrix<double>& alpha, Index i) {
  Matrix<double> decays = Matrix<double>::Zero(alpha.rows(), alpha.cols());
  decays.row(i).setOnes();
  for (Index j = i - 1; j >= 0; --j) decays.row(j) = decays.row(j + 1).cwiseProduct(alpha.row(j + 1));
  return decays;
}

Matrix<double> lower(Arguments a) { return a[0].triangularView<Eigen::Lower>(); }

Matrix<double> strictly_lower(Arguments a) { return a[0].triangularView<Eigen::StrictlyLower>(); }

/// G_ij = alpha_{j+1} ... alpha_i for j <= i.
Matrix<double> decay_mask(Arguments a) {
  const Index L = a[0].rows();
  Matrix<double> G(L, L);
  for (Index i = 0; i < L; ++i) G.row(i) = decays_until(a[0], i).transpose();
  return G;
}

Matrix<double> cumulative_decay(Arguments a) {
  Matrix<double> g = a[0];
  for (Index i = 1; i < g.rows(); ++i) g.row(i) = g.row(i).cwiseProduct(g.row(i - 1));
  return g;
}

Matrix<double> remaining_decay(Arguments a) {
  const Index L = a[0].rows();
  return L == 0 ? a[0] : decays_until(a[0], L - 1);
}

Matrix<double> total_decay(Arguments a) {
  Matrix<double> total = Matrix<double>::Ones(a[0].cols(), 1);
  for (Index i = 0; i < a[0].rows(); ++i) total = total.cwiseProduct(a[0].row(i).transpose());
  return total;
}

/// Z_ij = sum_d X_id Y_jd alpha_{j+1:i,d} for j <= i.
Matrix<double> decay_scores(Arguments a) {
  const Index L = a[0].rows();
  Matrix<double> Z = Matrix<double>::Zero(L, L);
  for (Index i = 0; i < L; ++i) {
    const Matrix<double> decays = decays_until(a[2], i);
    for (Index j = 0; j <= i; ++j) Z(i, j) = a[0].row(i).cwiseProduct(a[1].row(j)).dot(decays.row(j));
  }
  return Z;
}

/// U_i = R_i - sum_{j<i} N_ij U_j, row after row.
Matrix<double> solve_unit_lower(Arguments a) {
  Matrix<double> U = a[1];
  for (Index i = 0; i < U.rows(); ++i) {
    for (Index j = 0; j < i; ++j) U.row(i) -= a[0](i, j) * U.row(j);
  }
  return U;
}

Term explain_lower(CallCell& cell) {
  return cell.column() <= cell.row() ? cell.at(0, cell.row(), cell.column()) : number(0);
}

Term explain_strictly_lower(CallCell& cell) {
  return cell.column() < cell.row() ? cell.at(0, cell.row(), cell.column()) : number(0);
}

/// The decays of the tokens first .. first + count - 1, multiplied.
Term decays(CallCell& cell, std::size_t alpha, Index first, Index count, const Place& channel) {
  if (!channel.letter) cell.reads(alpha, first, channel.index, count, 1);
  return product(first, count, [&](Index token) { return cell.at(alpha, token, channel); });
}

Term explain_decay_mask(CallCell& cell) {
  if (cell.column() > cell.row()) return number(0);
  return decays(cell, 0, cell.column() + 1, cell.row() - cell.column(), 0);
}

Term explain_cumulative_decay(CallCell& cell) { return decays(cell, 0, 0, cell.row() + 1, cell.column()); }

Term explain_remaining_decay(CallCell& cell) {
  return decays(cell, 0, cell.row() + 1, cell.shape(0).rows - cell.row() - 1, cell.column());
}

Term explain_total_decay(CallCell& cell) { return decays(cell, 0, 0, cell.shape(0).rows, cell.row()); }

Term explain_decay_scores(CallCell& cell) {
  const Index reader = cell.row();
  const Index writer = cell.column();
  if (writer > reader) return number(0);
  const Index K = cell.shape(0).columns;
  const Index between = reader - writer;
  cell.reads(0, reader, 0, 1, K);
  cell.reads(1, writer, 0, 1, K);
  cell.reads(2, writer + 1, 0, between, K);

  const auto kept = [&](Index channel) {
    double total = 1;
    for (Index token = writer + 1; token <= reader; ++token) total *= cell.value(2, token, channel);
    return total;
  };
  return sum({.count = K,
              .value = [&](Index d) { return cell.value(0, reader, d) * cell.value(1, writer, d) * kept(d); },
              .term =
                  [&](const Place& d) {
                    const Term pair = cell.at(0, reader, d) * cell.at(1, writer, d);
                    return between == 0 ? pair : pair * worked_out(decays(cell, 2, writer + 1, between, d));
                  }});
}

Term explain_solve(CallCell& cell) {
  const Index row = cell.row();
  const Index column = cell.column();
  Term right_side = cell.at(1, row, column);
  if (row == 0) return right_side;
  cell.reads(0, row, 0, 1, row);
  cell.reads_own(0, column, row, 1);
  return right_side -
         sum({.count = row,
              .letter = 'j',
              .value = [&](Index j) { return cell.value(0, row, j) * cell.own(j, column).value; },
              .term = [&](const Place& j) { return cell.at(0, row, j) * cell.own(j, column); }},
             fmt::format("Σ_{{j<{}}}", row));
}

}  // namespace

std::vector<Function> decay_functions() {
  return {
      function("lower", "[L, M] -> [L, M]", applied("tril"), lower, explain_lower,
               "everything above the diagonal is 0: no token sees a later one"),
      function("strictly_lower", "[L, M] -> [L, M]", applied("stril"), strictly_lower, explain_strictly_lower,
               "the diagonal and everything above it is 0: each token meets only earlier ones"),
      function("decay_mask", "[L, 1] -> [L, L]",
               {R"(\left[#1_{j+1:i}\right]_{j \le i})", Precedence::atom, Precedence::atom}, decay_mask,
               explain_decay_mask, "1 on the diagonal, then the decays in between multiplied"),
      function("cumulative_decay", "[L, K] -> [L, K]",
               {R"(\left[#1_{1:i}\right]_{i})", Precedence::atom, Precedence::atom}, cumulative_decay,
               explain_cumulative_decay, "all decays from the first token up to this one, multiplied"),
      function("remaining_decay", "[L, K] -> [L, K]",
               {R"(\left[#1_{j+1:L}\right]_{j})", Precedence::atom, Precedence::atom}, remaining_decay,
               explain_remaining_decay,
               "all decays after this token, multiplied: what is left of its write at the end"),
      function("total_decay", "[L, K] -> [K, 1]", {"#1_{1:L}", Precedence::atom, Precedence::atom},
               total_decay, explain_total_decay,
               "all decays multiplied: what is left of the memory carried in"),
      function("decay_scores", "[L, K], [L, K], [L, K] -> [L, L]",
               {R"(\left[\sum_{d} #1_{i,d} #2_{j,d} #3_{j+1:i,d}\right]_{j \le i})", Precedence::atom,
                Precedence::atom},
               decay_scores, explain_decay_scores,
               "a reading meets an earlier writing channel by channel, each channel faded by its own decays "
               "in between"),
      function("solve_unit_lower", "[L, L], [L, D] -> [L, D]",
               {R"(\left(I + #1\right)^{-1} #2)", Precedence::product, Precedence::product}, solve_unit_lower,
               explain_solve, "the right side, less what the earlier rows of the result already say"),
  };
}

}  // namespace palimpsest
