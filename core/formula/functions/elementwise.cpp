// Arithmetic element by element.

#include <cmath>

#include "core/formula/functions.h"

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

// GELU in its tanh form and its derivative (spec 3.12), element by element.

namespace {

const double gelu_root = std::sqrt(2 / std::acos(-1.0));
constexpr double gelu_cubic = 0.044715;

double bent(double x) { return std::tanh(gelu_root * (x + gelu_cubic * x * x * x)); }

Matrix<double> gelu_of_each(Arguments a) {
  return a[0].unaryExpr([](double x) { return x / 2 * (1 + bent(x)); });
}

Matrix<double> gelu_slopes(Arguments a) {
  return a[0].unaryExpr([](double x) {
    const double t = bent(x);
    const double flat = 1 - t * t;
    const double bend = flat == 0 ? 0 : x / 2 * flat * gelu_root * (1 + 3 * gelu_cubic * x * x);
    return (1 + t) / 2 + bend;
  });
}

/// "tanh(√(2/π)·(x + 0.044715·x³))".
Term explain_tanh(const Term& x) {
  return tanh(symbol("√(2/π)", gelu_root) * (x + number(gelu_cubic) * x * x * x));
}

Term explain_gelu(CallCell& cell) {
  const Term x = cell.at(0, cell.row(), cell.column());
  return x / number(2) * (number(1) + explain_tanh(x));
}

Term explain_gelu_derivative(CallCell& cell) {
  const Term x = cell.at(0, cell.row(), cell.column());
  const Term t = worked_out(explain_tanh(x));
  const Term flat = number(1) - t * t;
  const Term value = (number(1) + t) / number(2);
  if (flat.value == 0) return value;
  const Term slope = symbol("√(2/π)", gelu_root) * (number(1) + number(3 * gelu_cubic) * x * x);
  return value + x / number(2) * flat * slope;
}

}  // namespace

std::vector<Function> gelu_functions() {
  return {
      function("gelu", "[L, M] -> [L, M]", applied("gelu"), gelu_of_each, explain_gelu,
               "itself if large, 0 if very negative, a smooth bend in between"),
      function("gelu_derivative", "[L, M] -> [L, M]", {R"(\mathrm{gelu}'\left(#1\right))"}, gelu_slopes,
               explain_gelu_derivative,
               "how steep the bend is there: 1 where it is open, 0 where it is shut"),
  };
}

// A bias beside rows of tokens.

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
