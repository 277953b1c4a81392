// A bias beside rows of tokens.

#include "core/formula/functions/rows.h"

namespace palimpsest {

namespace {

Matrix<double> add_to_rows(Arguments a) { return a[0].rowwise() + a[1].col(0).transpose(); }

Matrix<double> plus_one(Arguments a) { return a[0].array() + 1; }

Matrix<double> sum_of_rows(Arguments a) { return a[0].colwise().sum().transpose(); }

Term explain_add_to_rows(CallCell& cell) {
  return cell.at(0, cell.row(), cell.column()) + cell.at(1, cell.column(), 0);
}

Term explain_plus_one(CallCell& cell) { return cell.at(0, cell.row(), cell.column()) + number(1); }

Term explain_sum_of_rows(CallCell& cell) {
  const Index column = cell.row();
  const Index count = cell.shape(0).rows;
  cell.reads(0, 0, column, count, 1);
  return sum({.count = count,
              .letter = 'j',
              .value = [&](Index j) { return cell.value(0, j, column); },
              .term = [&](const Subscript& j) { return cell.at(0, j, column); }});
}

}  // namespace

std::vector<Function> row_functions() {
  return {
      function("add_to_rows", "[L, D], [D, 1] -> [L, D]",
               {R"(#1 + \mathbf{1} #2^{\top})", Precedence::sum, Precedence::atom}, add_to_rows,
               explain_add_to_rows, "the same vector added to every row"),
      function("plus_one", "[L, M] -> [L, M]",
               {R"(#1 + \mathbf{1}\mathbf{1}^{\top})", Precedence::sum, Precedence::sum}, plus_one,
               explain_plus_one, "one more: the bias is the weight of a key channel that is always 1"),
      function("sum_of_rows", "[L, D] -> [D, 1]",
               {R"(#1^{\top} \mathbf{1})", Precedence::product, Precedence::atom}, sum_of_rows,
               explain_sum_of_rows, "the sum of all rows"),
  };
}

}  // namespace palimpsest
