// What rules make of their inputs, element by element: gates from sums, positive keys, roots.

#include "core/formula/functions.h"

namespace palimpsest {

std::vector<Function> activation_functions() {
  const auto elementwise = [](const char* name, Pattern pattern, auto cell) {
    return by_cell(name, "[L, M] -> [L, M]", std::move(pattern), cell);
  };
  const auto called = [&](const char* name, auto cell) { return elementwise(name, applied(name), cell); };
  return {
      called("sigmoid",
             [](const auto& cell) { return cell.number(1) / (cell.number(1) + exp(-cell.here(0))); }),
      called("silu", [](const auto& cell) { return cell.here(0) / (cell.number(1) + exp(-cell.here(0))); }),
      // log(1 + exp(x)), with the larger summand in front so that nothing overflows.
      called("softplus",
             [](const auto& cell) {
               const auto x = cell.here(0);
               const auto positive = maximum(x, cell.number(0));
               return positive + log(cell.number(1) + exp(-maximum(x, -x)));
             }),
      called("relu", [](const auto& cell) { return maximum(cell.here(0), cell.number(0)); }),
      called("elu",
             [](const auto& cell) {
               const auto x = cell.here(0);
               const auto negative = -maximum(-x, cell.number(0));
               return maximum(x, cell.number(0)) + (exp(negative) - cell.number(1));
             }),
      called("tanh", [](const auto& cell) { return tanh(cell.here(0)); }),
      elementwise("log", {R"(\log\left(#1\right))"}, [](const auto& cell) { return log(cell.here(0)); }),
      elementwise("sqrt", {"#1^{1/2}", Precedence::product, Precedence::atom},
                  [](const auto& cell) { return sqrt(cell.here(0)); }),
      called("abs", [](const auto& cell) { return maximum(cell.here(0), -cell.here(0)); }),
  };
}

}  // namespace palimpsest
