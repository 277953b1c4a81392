// Arithmetic element by element.

#include "core/formula/functions/rows.h"

namespace palimpsest {

namespace {

Matrix<double> negative(Arguments a) { return -a[0]; }

Matrix<double> one_minus(Arguments a) { return (1 - a[0].array()).matrix(); }

Term explain_negative(CallCell& cell) { return number(0) - cell.at(0, cell.row(), cell.column()); }

Term explain_one_minus(CallCell& cell) { return number(1) - cell.at(0, cell.row(), cell.column()); }

}  // namespace

std::vector<Function> arithmetic_functions() {
  return {
      function("negative", "[L, M] -> [L, M]", {"-#1", Precedence::product, Precedence::product}, negative,
               explain_negative, "with the opposite sign"),
      function("one_minus", "[L, M] -> [L, M]", {"1 - #1", Precedence::sum, Precedence::product}, one_minus,
               explain_one_minus, "what is missing to 1"),
  };
}

}  // namespace palimpsest
