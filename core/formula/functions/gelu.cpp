// GELU in its tanh form and its derivative (spec 3.12), element by element.

#include <cmath>

#include "core/formula/functions/rows.h"

namespace palimpsest {

namespace {

const double root = std::sqrt(2 / std::acos(-1.0));
constexpr double cubic = 0.044715;

double bent(double x) { return std::tanh(root * (x + cubic * x * x * x)); }

Matrix<double> gelu(Arguments a) {
  return a[0].unaryExpr([](double x) { return x / 2 * (1 + bent(x)); });
}

Matrix<double> gelu_derivative(Arguments a) {
  return a[0].unaryExpr([](double x) {
    const double t = bent(x);
    const double flat = 1 - t * t;
    const double bend = flat == 0 ? 0 : x / 2 * flat * root * (1 + 3 * cubic * x * x);
    return (1 + t) / 2 + bend;
  });
}

/// "tanh(√(2/π)·(x + 0.044715·x³))".
Term explain_tanh(const Term& x) { return tanh(symbol("√(2/π)", root) * (x + number(cubic) * x * x * x)); }

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
  const Term slope = symbol("√(2/π)", root) * (number(1) + number(3 * cubic) * x * x);
  return value + x / number(2) * flat * slope;
}

}  // namespace

std::vector<Function> gelu_functions() {
  return {
      function("gelu", "[L, M] -> [L, M]", applied("gelu"), gelu, explain_gelu,
               "itself if large, 0 if very negative, a smooth bend in between"),
      function("gelu_derivative", "[L, M] -> [L, M]", {R"(\mathrm{gelu}'\left(#1\right))"}, gelu_derivative,
               explain_gelu_derivative,
               "how steep the bend is there: 1 where it is open, 0 where it is shut"),
  };
}

}  // namespace palimpsest
