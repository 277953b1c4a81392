// Sums kept as logarithms: the softmax over the tokens so far.

#include "core/formula/functions/rows.h"
#include "core/numbers/log_add_exp.h"

namespace palimpsest {

namespace {

Matrix<double> element_by_element(Arguments a) { return a[0].binaryExpr(a[1], &log_add_exp); }

Term explain_log_add_exp(CallCell& cell) {
  const Term x = cell.at(0, cell.row(), cell.column());
  const Term y = cell.at(1, cell.row(), cell.column());
  const auto written = [](const Written& of_x, const Written& of_y) {
    return Written{"log(exp(" + of_x.text + ") + exp(" + of_y.text + "))"};
  };
  return {written(x.formula, y.formula), written(x.numbers, y.numbers), log_add_exp(x.value, y.value)};
}

}  // namespace

std::vector<Function> log_sum_functions() {
  return {function("log_add_exp", "[L, M], [L, M] -> [L, M]",
                   {R"(\log\left(\exp #1 + \exp #2\right))", Precedence::product, Precedence::sum},
                   element_by_element, explain_log_add_exp,
                   "the logarithm of one exponential more in a sum of exponentials")};
}

}  // namespace palimpsest
