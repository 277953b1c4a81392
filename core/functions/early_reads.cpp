// Reads of the state before the row's own decay: one decay fewer than core/functions/decays.cpp.

#include "core/functions/rows.h"

namespace palimpsest {

namespace {

/// alpha_{j+1:i-1} for j < i, element by element; rows j >= i are 0.
Matrix<double> decays_before(const Matrix<double>& alpha, Index i) {
  Matrix<double> decays = Matrix<double>::Zero(alpha.rows(), alpha.cols());
  if (i == 0) return decays;
  decays.row(i - 1).setOnes();
  for (Index j = i - 2; j >= 0; --j) decays.row(j) = decays.row(j + 1).cwiseProduct(alpha.row(j + 1));
  return decays;
}

Matrix<double> decay_mask_before(Arguments a) {
  const Index L = a[0].rows();
  Matrix<double> G(L, L);
  for (Index i = 0; i < L; ++i) G.row(i) = decays_before(a[0], i).transpose();
  return G;
}

Matrix<double> cumulative_decay_before(Arguments a) {
  Matrix<double> g = Matrix<double>::Ones(a[0].rows(), a[0].cols());
  for (Index i = 1; i < g.rows(); ++i) g.row(i) = g.row(i - 1).cwiseProduct(a[0].row(i - 1));
  return g;
}

Matrix<double> decay_scores_before(Arguments a) {
  const Index L = a[0].rows();
  Matrix<double> Z = Matrix<double>::Zero(L, L);
  for (Index i = 0; i < L; ++i) {
    const Matrix<double> decays = decays_before(a[2], i);
    for (Index j = 0; j < i; ++j) Z(i, j) = a[0].row(i).cwiseProduct(a[1].row(j)).dot(decays.row(j));
  }
  return Z;
}

/// The decays of the rows first .. first + count - 1, multiplied.
Term decays(CallCell& cell, std::size_t alpha, Index first, Index count, const Place& channel) {
  if (!channel.letter) cell.reads(alpha, first, channel.index, count, 1);
  return product(first, count, [&](Index token) { return cell.at(alpha, token, channel); });
}

Term explain_decay_mask_before(CallCell& cell) {
  if (cell.column() >= cell.row()) return number(0);
  return decays(cell, 0, cell.column() + 1, cell.row() - cell.column() - 1, 0);
}

Term explain_cumulative_decay_before(CallCell& cell) { return decays(cell, 0, 0, cell.row(), cell.column()); }

Term explain_decay_scores_before(CallCell& cell) {
  const Index reader = cell.row();
  const Index writer = cell.column();
  if (writer >= reader) return number(0);
  const Index K = cell.shape(0).columns;
  const Index between = reader - writer - 1;
  cell.reads(0, reader, 0, 1, K);
  cell.reads(1, writer, 0, 1, K);
  cell.reads(2, writer + 1, 0, between, K);
  const auto kept = [&](Index channel) {
    double total = 1;
    for (Index token = writer + 1; token < reader; ++token) total *= cell.value(2, token, channel);
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

}  // namespace

std::vector<Function> early_read_functions() {
  return {
      function("decay_mask_before", "[L, 1] -> [L, L]",
               {R"(\left[#1_{j+1:i-1}\right]_{j < i})", Precedence::atom, Precedence::atom},
               decay_mask_before, explain_decay_mask_before,
               "the decays after write j and before token i, multiplied; the token's own decay comes later"),
      function("cumulative_decay_before", "[L, K] -> [L, K]",
               {R"(\left[#1_{1:i-1}\right]_{i})", Precedence::atom, Precedence::atom},
               cumulative_decay_before, explain_cumulative_decay_before,
               "all decays before this token, multiplied"),
      function(
          "decay_scores_before", "[L, K], [L, K], [L, K] -> [L, L]",
          {R"(\left[\sum_{d} #1_{i,d} #2_{j,d} #3_{j+1:i-1,d}\right]_{j < i})", Precedence::atom,
           Precedence::atom},
          decay_scores_before, explain_decay_scores_before,
          "a reading meets an earlier writing channel by channel, faded by the decays before the token's "
          "own"),
  };
}

}  // namespace palimpsest
