// What goes wrong, written down: no form computes with these. Faulty equations (core/proof/faults.h) do.

#include <limits>

#include "core/formula/functions/rows.h"

namespace palimpsest {

namespace {

Matrix<double> all_ones(Arguments a) { return Matrix<double>::Ones(a[0].rows(), a[0].cols()); }

Matrix<double> causal_ones(Arguments a) {
  const Index L = a[0].rows();
  return Matrix<double>::Ones(L, L).triangularView<Eigen::Lower>();
}

Matrix<double> causal_product(Arguments a) {
  Matrix<double> result = a[0];
  for (Index i = 0; i < result.rows(); ++i) {
    for (Index j = 0; j < result.cols(); ++j) {
      if (!is_past(a[1](0, 0), a[2](0, 0), i, j)) result(i, j) = 0;
    }
  }
  return result;
}

Matrix<double> lower_but_one(Arguments a) {
  Matrix<double> result = a[0].triangularView<Eigen::StrictlyLower>();
  for (Index i = 1; i < result.rows() && i <= result.cols(); ++i) result(i, i - 1) = 0;
  return result;
}

Matrix<double> without_last_row(Arguments a) {
  Matrix<double> result = a[0];
  if (result.rows() > 0) result.bottomRows(1).setZero();
  return result;
}

Matrix<double> last_row_twice(Arguments a) {
  Matrix<double> result = a[0];
  if (result.rows() > 0) result.bottomRows(1) *= 2;
  return result;
}

Matrix<double> first_channels(Arguments a) { return a[0].topRows(a[0].rows() - 1); }

Matrix<double> row_first_channels(Arguments a) { return a[0].leftCols(a[0].cols() - 1); }

Term explain_all_ones(CallCell&) { return number(1); }

Term explain_causal_ones(CallCell& cell) { return number(cell.column() <= cell.row() ? 1 : 0); }

Term explain_causal_product(CallCell& cell) {
  const bool past = is_past(cell.value(1, 0, 0), cell.value(2, 0, 0), cell.row(), cell.column());
  return past ? cell.at(0, cell.row(), cell.column()) : number(0);
}

Term explain_lower_but_one(CallCell& cell) {
  return cell.column() + 1 < cell.row() ? cell.at(0, cell.row(), cell.column()) : number(0);
}

bool is_last_row(CallCell& cell) { return cell.row() + 1 == cell.shape(0).rows; }

Term explain_without_last_row(CallCell& cell) {
  return is_last_row(cell) ? number(0) : cell.at(0, cell.row(), cell.column());
}

Term explain_last_row_twice(CallCell& cell) {
  const Term own = cell.at(0, cell.row(), cell.column());
  return is_last_row(cell) ? number(2) * own : own;
}

Term explain_first_channels(CallCell& cell) { return cell.at(0, cell.row(), cell.column()); }

}  // namespace

std::vector<Function> faulty_functions() {
  return {
      function("all_ones", "[L, M] -> [L, M]", {"#1^{0}", Precedence::atom, Precedence::atom}, all_ones,
               explain_all_ones, "1, whatever stands there"),
      function("causal_ones", "[L, M] -> [L, L]", {R"(\left[\left(#1\right)^{0}\right]_{j \le i})"},
               causal_ones, explain_causal_ones, "1 for every earlier token, however much has faded since"),
      function("causal_product", "[L, M], [1, 1], [1, 1] -> [L, M]",
               {R"(#1 \odot M)", Precedence::hadamard, Precedence::hadamard}, causal_product,
               explain_causal_product, "0 where the key comes later than the query: a score like any other"),
      function("lower_but_one", "[L, M] -> [L, M]", applied("stril^{-}"), lower_but_one,
               explain_lower_but_one, "each token meets only those before the one before it"),
      function("without_last_row", "[L, M] -> [L, M]", {"#1_{1:L-1}", Precedence::atom, Precedence::atom},
               without_last_row, explain_without_last_row, "all rows but the last"),
      function("last_row_twice", "[L, M] -> [L, M]", {"#1_{1:L,L}", Precedence::atom, Precedence::atom},
               last_row_twice, explain_last_row_twice, "all rows, and the last once more"),
      function("first_channels", "[V+1, 1] -> [V, 1]", {"#1_{1:V}", Precedence::atom, Precedence::atom},
               first_channels, explain_first_channels, "all channels but the last"),
      function("row_first_channels", "[L, V+1] -> [L, V]", {"#1_{:,1:V}", Precedence::atom, Precedence::atom},
               row_first_channels, explain_first_channels, "all channels but the last"),
  };
}

}  // namespace palimpsest
