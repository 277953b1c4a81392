// Rows whose channels fade from token to token: the solve and the read of value-side decay (spec 2.5).

#include <fmt/format.h>

#include "core/formula/functions/rows.h"

namespace palimpsest {

namespace {

/// What is left of row j of `rows` when row i comes: mu_{j+1:i} o row j.
RowVector<double> left_of(const Matrix<double>& rows, const Matrix<double>& mu, Index j, Index i) {
  RowVector<double> left = rows.row(j);
  for (Index l = j + 1; l <= i; ++l) left = left.cwiseProduct(mu.row(l));
  return left;
}

/// U_i = R_i - sum_{j<i} N_ij (mu_{j+1:i} o U_j).
Matrix<double> solve_fading(Arguments a) {
  Matrix<double> U = a[1];
  for (Index i = 0; i < U.rows(); ++i) {
    for (Index j = 0; j < i; ++j) U.row(i) -= a[0](i, j) * left_of(U, a[2], j, i);
  }
  return U;
}

/// O_i = sum_{j<=l} P_ij (mu_{j+1:l} o U_j), l the last row that is written and faded when row i reads: i, or
/// `rows_early` rows before it.
template <Index rows_early>
Matrix<double> read_fading(Arguments a) {
  Matrix<double> O = Matrix<double>::Zero(a[1].rows(), a[1].cols());
  for (Index i = 0; i < O.rows(); ++i) {
    const Index last = i - rows_early;
    for (Index j = 0; j <= last; ++j) O.row(i) += a[0](i, j) * left_of(a[1], a[2], j, last);
  }
  return O;
}

/// mu_{j+1:i} of one channel, as a number.
double kept(CallCell& cell, Index j, Index i, Index channel) {
  double total = 1;
  for (Index l = j + 1; l <= i; ++l) total *= cell.value(2, l, channel);
  return total;
}

/// sum_j X_ij (mu_{j+1:last} o Y_j) over the first `count` rows j; y(j) is Y_j.
Term faded_sum(CallCell& cell, Index count, Index last, const std::string& rows,
               const std::function<Term(Subscript)>& y) {
  const Index row = cell.row();
  const Index column = cell.column();
  cell.reads(0, row, 0, 1, count);
  cell.reads(2, 0, column, last + 1, 1);
  return sum(
      {.count = count,
       .letter = 'j',
       .value = [&](Index j) { return cell.value(0, row, j) * kept(cell, j, last, column) * y(j).value; },
       .term =
           [&](const Subscript& j) {
             const std::string decays = fmt::format("{}[{}+1:{}]", cell.name(2), j.text(), last);
             return cell.at(0, row, j) * symbol(decays, kept(cell, j.index, last, column)) * y(j);
           }},
      fmt::format("Σ_{{j{}}}", rows));
}

Term explain_solve_fading(CallCell& cell) {
  Term right_side = cell.at(1, cell.row(), cell.column());
  if (cell.row() == 0) return right_side;
  cell.reads_own(0, cell.column(), cell.row(), 1);
  return right_side - faded_sum(cell, cell.row(), cell.row(), fmt::format("<{}", cell.row()),
                                [&](const Subscript& j) { return cell.own(j, cell.column()); });
}

template <Index rows_early>
Term explain_read_fading(CallCell& cell) {
  const Index last = cell.row() - rows_early;
  if (last < 0) return number(0);
  cell.reads(1, 0, cell.column(), last + 1, 1);
  return faded_sum(cell, last + 1, last, fmt::format("≤{}", last),
                   [&](const Subscript& j) { return cell.at(1, j, cell.column()); });
}

}  // namespace

std::vector<Function> value_decay_functions() {
  return {
      function(
          "solve_fading", "[L, L], [L, D], [L, D] -> [L, D]",
          {R"(\left(I + #1 \odot #3_{j+1:i}\right)^{-1} #2)", Precedence::product, Precedence::product},
          solve_fading, explain_solve_fading,
          "the right side, less what the earlier rows of the result still say, each channel faded by its own "
          "decays in between"),
      function("read_fading", "[L, L], [L, D], [L, D] -> [L, D]",
               {R"(\left(#1 \odot #3_{j+1:i}\right) #2)", Precedence::product, Precedence::product},
               read_fading<0>, explain_read_fading<0>,
               "the rows written so far, each channel faded by its own decays in between"),
      function("read_fading_before", "[L, L], [L, D], [L, D] -> [L, D]",
               {R"(\left(#1 \odot #3_{j+1:i-1}\right) #2)", Precedence::product, Precedence::product},
               read_fading<1>, explain_read_fading<1>,
               "the rows written before this one, each channel faded by its own decays before the token's "
               "own"),
  };
}

}  // namespace palimpsest
