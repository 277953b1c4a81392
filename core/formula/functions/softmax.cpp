// Softmax, whole and in pieces: running maxima, sums and rescaled exponentials. An entry of -inf weighs
// nothing.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/formula/functions.h"
#include "core/numbers/exponential.h"

namespace palimpsest {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// exp(x - m), where nothing (x = -inf) weighs nothing even if m is -inf too.
double exp_below(double x, double m) { return x == -infinity ? 0 : std::exp(x - m); }

double largest(const Matrix<double>& x) {
  double result = -infinity;
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) result = larger(result, x(i, j));
  }
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

Matrix<double> exp_difference(Arguments a) {
  Matrix<double> result = a[0];
  for (Index i = 0; i < result.rows(); ++i) {
    for (Index j = 0; j < result.cols(); ++j) result(i, j) = exp_below(result(i, j), a[1](i, 0));
  }
  return result;
}

Matrix<double> divide_rows(Arguments a) {
  Matrix<double> result = a[0];
  for (Index i = 0; i < result.rows(); ++i) result.row(i) /= a[1](i, 0);
  return result;
}

Matrix<double> reciprocal(Arguments a) { return a[0].cwiseInverse(); }

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

Matrix<double> exp_of_each(Arguments a) {
  return a[0].unaryExpr([](double x) { return std::exp(x); });
}

Matrix<double> elementwise_maximum(Arguments a) {
  return a[0].binaryExpr(a[1], [](double x, double y) { return larger(x, y); });
}

Matrix<double> column_max(Arguments a) { return Matrix<double>::Constant(1, 1, largest(a[0])); }

Matrix<double> column_sum(Arguments a) { return Matrix<double>::Constant(1, 1, a[0].sum()); }

Matrix<double> causal(Arguments a) {
  Matrix<double> result = a[0];
  for (Index i = 0; i < result.rows(); ++i) {
    for (Index j = 0; j < result.cols(); ++j) {
      if (!is_past(a[1](0, 0), a[2](0, 0), i, j)) result(i, j) = -infinity;
    }
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

/// All cells of one row of the first argument.
IndexedTerms row_of(CallCell& cell, Index row) {
  const Index count = cell.shape(0).columns;
  cell.reads(0, row, 0, 1, count);
  return {.count = count,
          .letter = 'j',
          .value = [&cell, row](Index j) { return cell.value(0, row, j); },
          .term = [&cell, row](const Subscript& j) { return cell.at(0, row, j); }};
}

/// All cells of the column that is the first argument.
IndexedTerms column_of(CallCell& cell) {
  const Index count = cell.shape(0).rows;
  cell.reads(0, 0, 0, count, 1);
  return {.count = count,
          .value = [&cell](Index i) { return cell.value(0, i, 0); },
          .term = [&cell](const Subscript& i) { return cell.at(0, i, 0); }};
}

Term explain_softmax(CallCell& cell) {
  const IndexedTerms row = row_of(cell, cell.row());
  const double m = maximum(row).value;
  if (m == -infinity) return number(0);
  const Term largest_of_row = symbol("max", m);
  const Term total = sum({.count = row.count,
                          .letter = row.letter,
                          .value = [&](Index j) { return exp_below(row.value(j), m); },
                          .term = [&](const Subscript& j) { return exp(row.term(j) - largest_of_row); }});
  return exp(row.term(cell.column()) - largest_of_row) / worked_out(total);
}

Term explain_exp(CallCell& cell) { return exp(cell.at(0, cell.row(), cell.column())); }

Term explain_row_max(CallCell& cell) { return maximum(row_of(cell, cell.row())); }

Term explain_row_sum(CallCell& cell) { return sum(row_of(cell, cell.row())); }

Term explain_maximum(CallCell& cell) {
  return maximum(cell.at(0, cell.row(), cell.column()), cell.at(1, cell.row(), cell.column()));
}

Term explain_exp_difference(CallCell& cell) {
  const Term x = cell.at(0, cell.row(), cell.column());
  Term result = exp(x - cell.at(1, cell.row(), 0));
  result.value = exp_below(x.value, cell.value(1, cell.row(), 0));
  return result;
}

Term explain_divide_rows(CallCell& cell) {
  return cell.at(0, cell.row(), cell.column()) / cell.at(1, cell.row(), 0);
}

Term explain_reciprocal(CallCell& cell) { return number(1) / cell.at(0, 0, 0); }

Term explain_column_max(CallCell& cell) { return maximum(column_of(cell)); }

Term explain_column_sum(CallCell& cell) { return sum(column_of(cell)); }

Term explain_causal(CallCell& cell) {
  const bool past = is_past(cell.value(1, 0, 0), cell.value(2, 0, 0), cell.row(), cell.column());
  return past ? cell.at(0, cell.row(), cell.column()) : number(-infinity);
}

Term explain_log_decays(CallCell& cell) {
  const double i = cell.value(1, cell.row(), 0);
  const double j = cell.value(2, cell.column(), 0);
  const auto [first, last] = gates_between(cell.shape(0).rows, i, j);
  if (last < first) return number(0);
  cell.reads(0, first, 0, last - first + 1, 1);
  return sum(
      {.count = last - first + 1,
       .letter = 'l',
       .value = [&, start = first](Index l) { return cell.value(0, start + l, 0); },
       .term = [&, start = first](
                   const Subscript& l) { return cell.at(0, Subscript(start + l.index, l.letter), 0); }},
      fmt::format("Σ_{{{:g}<l≤{:g}}}", j, i));
}

}  // namespace

bool is_past(double first_query, double first_key, Index i, Index j) {
  return first_key + static_cast<double>(j) <= first_query + static_cast<double>(i);
}

std::vector<Function> softmax_functions() {
  return {
      function("row_softmax", "[L, M] -> [L, M]", applied("softmax"), row_softmax, explain_softmax,
               "the exponential, divided by the sum of all exponentials of its row"),
      function("exp", "[L, M] -> [L, M]", {R"(\exp\left(#1\right))"}, exp_of_each, explain_exp,
               "the exponential"),
      function("row_max", "[L, M] -> [L, 1]", applied("rowmax"), row_max, explain_row_max,
               "the largest of its row"),
      function("row_sum", "[L, M] -> [L, 1]", applied("rowsum"), row_sum, explain_row_sum,
               "the sum of its row"),
      function("maximum", "[L, M], [L, M] -> [L, M]", {R"(\max\left(#1, #2\right))"}, elementwise_maximum,
               explain_maximum, "the larger of the two"),
      function("exp_difference", "[L, D], [L, 1] -> [L, D]",
               {R"(\exp\left(#1 - #2\right))", Precedence::atom, Precedence::hadamard}, exp_difference,
               explain_exp_difference,
               "the exponential of the distance to its row's maximum, so that none overflows"),
      function("divide_rows", "[L, D], [L, 1] -> [L, D]",
               {R"(\mathrm{Diag}\left(#2\right)^{-1} #1)", Precedence::product, Precedence::product},
               divide_rows, explain_divide_rows, "divided by its row's number"),
      function("reciprocal", "[1, 1] -> [1, 1]", {"#1^{-1}", Precedence::product, Precedence::atom},
               reciprocal, explain_reciprocal, "one over it"),
      function("column_max", "[D, 1] -> [1, 1]", {R"(\max\left(#1\right))"}, column_max, explain_column_max,
               "the largest of all"),
      function("column_sum", "[D, 1] -> [1, 1]", applied("sum"), column_sum, explain_column_sum,
               "the sum of all"),
      function("log_decays", "[N, 1], [L, 1], [M, 1] -> [L, M]",
               {R"(\left[\sum_{l=j+1}^{i} #1_{l}\right]_{j \le i})", Precedence::atom, Precedence::atom},
               log_decays, explain_log_decays,
               "the logarithms of all gates after the key up to the query, added up"),
      function("causal", "[L, M], [1, 1], [1, 1] -> [L, M]", {R"(#1 + \log M)", Precedence::sum}, causal,
               explain_causal,
               "kept where the key comes no later than the query, minus infinity elsewhere: a weight of 0"),
  };
}

// Sums kept as logarithms: the softmax over the tokens so far.

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
