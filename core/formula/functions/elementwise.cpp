// Arithmetic element by element and row by row, with softmax, whole and in pieces: running maxima, sums and
// rescaled exponentials. An entry of -inf has weight 0.

#include <fmt/format.h>

#include "core/formula/functions.h"
#include "core/numbers/exponential.h"

namespace palimpsest {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// GELU in its tanh form and its derivative (spec 3.12).

const double gelu_root = std::sqrt(2 / std::acos(-1.0));
constexpr double gelu_cubic = 0.044715;

double bent(double x) { return std::tanh(gelu_root * (x + gelu_cubic * x * x * x)); }

/// "tanh(√(2/π)·(x + 0.044715·x³))".
Term bent(const Term& x) { return tanh(symbol("√(2/π)", gelu_root) * (x + number(gelu_cubic) * x * x * x)); }

Matrix<double> gelu_slopes(Arguments a) {
  return a[0].unaryExpr([](double x) {
    const double t = bent(x);
    const double flat = 1 - t * t;
    const double bend = flat == 0 ? 0 : x / 2 * flat * gelu_root * (1 + 3 * gelu_cubic * x * x);
    return (1 + t) / 2 + bend;
  });
}

Term explain_gelu_derivative(CallCell& cell) {
  const Term x = cell.here(0);
  const Term t = worked_out(bent(x));
  const Term flat = number(1) - t * t;
  const Term value = (number(1) + t) / number(2);
  if (flat.value == 0) return value;
  const Term slope = symbol("√(2/π)", gelu_root) * (number(1) + number(3 * gelu_cubic) * x * x);
  return value + x / number(2) * flat * slope;
}

Matrix<double> sum_of_rows(Arguments a) { return a[0].colwise().sum().transpose(); }

Term explain_sum_of_rows(CallCell& cell) {
  const Index column = cell.row();
  const Index count = cell.shape(0).rows;
  cell.reads(0, 0, column, count, 1);
  return sum(over(cell, count, 'j', [&](const auto& of, const Subscript& j) { return of.at(0, j, column); }));
}

/// exp(x - m); 0 for x = -inf even if m is -inf too.
double exp_below(double x, double m) { return x == -infinity ? 0 : std::exp(x - m); }

Term exp_below(const Term& x, const Term& m) {
  Term result = exp(x - m);
  result.value = exp_below(x.value, m.value);
  return result;
}

Term log_add_exp(const Term& x, const Term& y) {
  const auto written = [](const Written& of_x, const Written& of_y) {
    return Written{"log(exp(" + of_x.text + ") + exp(" + of_y.text + "))"};
  };
  return {written(x.formula, y.formula), written(x.numbers, y.numbers),
          palimpsest::log_add_exp(x.value, y.value)};
}

double largest(const Matrix<double>& x) {
  double result = -infinity;
  for (const double each : x.reshaped()) result = maximum(result, each);
  return result;
}

/// The first and the last of `count` gates that lie between query i and key j; none where the key comes
/// later.
std::pair<Index, Index> gates_between(Index count, double i, double j) {
  const auto within = [&](double number) {
    return static_cast<Index>(std::clamp(number, -1.0, static_cast<double>(count) - 1));
  };
  return {within(j) + 1, within(i)};
}

Matrix<double> row_max(Arguments a) {
  Matrix<double> m(a[0].rows(), 1);
  for (Index i = 0; i < m.rows(); ++i) m(i, 0) = largest(a[0].row(i));
  return m;
}

Matrix<double> row_sum(Arguments a) { return a[0].rowwise().sum(); }

Matrix<double> row_softmax(Arguments a) {
  Matrix<double> result = a[0];
  for (Index i = 0; i < result.rows(); ++i) {
    const double m = largest(a[0].row(i));
    double total = 0;
    for (Index j = 0; j < result.cols(); ++j) total += result(i, j) = exp_below(a[0](i, j), m);
    // A row of nothing but -inf has no weights at all.
    if (m != -infinity) result.row(i) /= total;
  }
  return result;
}

/// The tokens' log gates from key j + 1 to query i, added up backwards from the query; 0 for later keys.
Matrix<double> log_decays(Arguments a) {
  Matrix<double> D = Matrix<double>::Zero(a[1].rows(), a[2].rows());
  for (Index row = 0; row < D.rows(); ++row) {
    for (Index column = 0; column < D.cols(); ++column) {
      const auto [first, last] = gates_between(a[0].rows(), a[1](row, 0), a[2](column, 0));
      for (Index l = last; l >= first; --l) D(row, column) += a[0](l, 0);
    }
  }
  return D;
}

/// All cells of this row of the first argument.
IndexedTerms row_of(CallCell& cell) {
  const Index count = cell.shape(0).columns;
  cell.reads(0, cell.row(), 0, 1, count);
  return over(cell, count, 'j', [](const auto& of, const Subscript& j) { return of.at(0, of.row(), j); });
}

Term explain_softmax(CallCell& cell) {
  const IndexedTerms row = row_of(cell);
  const double m = maximum(row).value;
  if (m == -infinity) return number(0);
  const Term largest_of_row = symbol("max", m);
  const Term total = sum({.count = row.count,
                          .letter = row.letter,
                          .value = [&](Index j) { return exp_below(row.value(j), m); },
                          .term = [&](const Subscript& j) { return exp(row.term(j) - largest_of_row); }});
  return exp(row.term(cell.column()) - largest_of_row) / worked_out(total);
}

Term explain_row_max(CallCell& cell) { return maximum(row_of(cell)); }

Term explain_row_sum(CallCell& cell) { return sum(row_of(cell)); }

Term explain_log_decays(CallCell& cell) {
  const double i = cell.value(1, cell.row(), 0);
  const double j = cell.value(2, cell.column(), 0);
  const auto [first, last] = gates_between(cell.shape(0).rows, i, j);
  if (last < first) return number(0);
  cell.reads(0, first, 0, last - first + 1, 1);
  const auto each = [start = first](const auto& of, const Subscript& l) {
    return of.at(0, Subscript(start + l.index, l.letter), 0);
  };
  return sum(over(cell, last - first + 1, 'l', each), fmt::format("Σ_{{{:g}<l≤{:g}}}", j, i));
}

}  // namespace

std::vector<Function> elementwise_functions() {
  using enum Precedence;
  const auto gelu = [](const auto& cell) {
    const auto x = cell.here(0);
    return x / cell.number(2) * (cell.number(1) + bent(x));
  };
  const auto add_to_rows = [](const auto& cell) { return cell.here(0) + cell.at(1, cell.column(), 0); };
  const auto exp_difference = [](const auto& cell) {
    const auto x = cell.here(0);
    return exp_below(x, cell.at(1, cell.row(), 0));
  };
  const auto causal = [](const auto& cell) { return is_past(cell) ? cell.here(0) : cell.number(-infinity); };
  return {
      by_cell("negative", "[L, M] -> [L, M]", {"-#1", product, product},
              [](const auto& cell) { return -cell.here(0); }),
      by_cell("one_minus", "[L, M] -> [L, M]", {"1 - #1", sum, product},
              [](const auto& cell) { return cell.number(1) - cell.here(0); }),
      by_cell("gelu", "[L, M] -> [L, M]", applied("gelu"), gelu),
      function("gelu_derivative", "[L, M] -> [L, M]", {R"(\mathrm{gelu}'\left(#1\right))"}, gelu_slopes,
               explain_gelu_derivative),
      by_cell("add_to_rows", "[L, D], [D, 1] -> [L, D]", {R"(#1 + \mathbf{1} #2^{\top})", sum, atom},
              add_to_rows),
      by_cell("plus_one", "[L, M] -> [L, M]", {R"(#1 + \mathbf{1}\mathbf{1}^{\top})", sum, sum},
              [](const auto& cell) { return cell.here(0) + cell.number(1); }),
      function("sum_of_rows", "[L, D] -> [D, 1]", {R"(#1^{\top} \mathbf{1})", product, atom}, sum_of_rows,
               explain_sum_of_rows),
      function("row_softmax", "[L, M] -> [L, M]", applied("softmax"), row_softmax, explain_softmax),
      by_cell("exp", "[L, M] -> [L, M]", {R"(\exp\left(#1\right))"},
              [](const auto& cell) { return exp(cell.here(0)); }),
      function("row_max", "[L, M] -> [L, 1]", applied("rowmax"), row_max, explain_row_max),
      function("row_sum", "[L, M] -> [L, 1]", applied("rowsum"), row_sum, explain_row_sum),
      by_cell("maximum", "[L, M], [L, M] -> [L, M]", {R"(\max\left(#1, #2\right))"},
              [](const auto& cell) { return maximum(cell.here(0), cell.here(1)); }),
      by_cell("exp_difference", "[L, D], [L, 1] -> [L, D]", {R"(\exp\left(#1 - #2\right))", atom, hadamard},
              exp_difference),
      by_cell("divide_rows", "[L, D], [L, 1] -> [L, D]",
              {R"(\mathrm{Diag}\left(#2\right)^{-1} #1)", product, product},
              [](const auto& cell) { return cell.here(0) / cell.at(1, cell.row(), 0); }),
      by_cell("reciprocal", "[L, M] -> [L, M]", {"#1^{-1}", product, atom},
              [](const auto& cell) { return cell.number(1) / cell.here(0); }),
      function("log_decays", "[N, 1], [L, 1], [M, 1] -> [L, M]",
               subscripted(R"(\left[\sum_{l=j+1}^{i} #1_{l}\right]_{j \le i})"), log_decays,
               explain_log_decays),
      by_cell("causal", "[L, M], [1, 1], [1, 1] -> [L, M]", {R"(#1 + \log M)", sum}, causal),
      by_cell("log_add_exp", "[L, M], [L, M] -> [L, M]",
              {R"(\log\left(\exp #1 + \exp #2\right))", product, sum},
              [](const auto& cell) { return log_add_exp(cell.here(0), cell.here(1)); }),
  };
}

}  // namespace palimpsest
