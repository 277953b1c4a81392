// What goes wrong, written down: no form computes with these. Faulty equations (core/proof/faults.h) do.

#include <cmath>
#include <limits>

#include "core/formula/functions.h"

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

// Formulas that are right on paper and fail in numbers (spec 2.6): no form computes with these. Fragile forms
// (core/proof/fragile_forms.h) do.

namespace {

/// Which pairs exp(G_i - G_j) is taken of.
enum class Pairs {
  all,     // and then times a mask of 0 and 1
  masked,  // j <= i
};

Matrix<double> log_sums(Arguments a) {
  Matrix<double> G = a[0].array().log().matrix();
  for (Index i = 1; i < G.rows(); ++i) G.row(i) += G.row(i - 1);
  return G;
}

/// Z_ij = sum_d X_id Y_jd exp(G_id - G_jd) for j <= i.
template <Pairs pairs>
Matrix<double> difference_scores(Arguments a) {
  const Matrix<double>& X = a[0];
  const Matrix<double>& Y = a[1];
  const Matrix<double>& G = a[2];
  const Index L = X.rows();
  Matrix<double> Z = Matrix<double>::Zero(L, L);
  for (Index i = 0; i < L; ++i) {
    const Index count = pairs == Pairs::all ? L : i + 1;
    for (Index j = 0; j < count; ++j) {
      for (Index d = 0; d < X.cols(); ++d) Z(i, j) += X(i, d) * Y(j, d) * std::exp(G(i, d) - G(j, d));
      Z(i, j) *= j <= i ? 1 : 0;
    }
  }
  return Z;
}

template <Pairs pairs>
Matrix<double> difference_mask(Arguments a) {
  const Matrix<double> ones = Matrix<double>::Ones(a[0].rows(), 1);
  return difference_scores<pairs>(std::vector<Matrix<double>>{ones, ones, a[0]});
}

/// (I - N) (I + N^2) (I + N^4) ... R: as often as it takes until the power is 0.
Matrix<double> solve_by_doubling(Arguments a) {
  const Index L = a[0].rows();
  const Matrix<double> one = Matrix<double>::Identity(L, L);
  Matrix<double> inverse = one - a[0];
  Matrix<double> power = a[0];
  for (Index exponent = 2; exponent < L; exponent *= 2) {
    power = power * power;
    inverse = inverse * (one + power);
  }
  return inverse * a[1];
}

/// One cell of what `evaluate` gives for the whole arguments, under a formula of its own.
Term worked_out_cell(CallCell& cell, Matrix<double> (*evaluate)(Arguments), std::size_t count,
                     std::string formula) {
  std::vector<Matrix<double>> arguments;
  for (std::size_t i = 0; i < count; ++i) arguments.push_back(whole(cell, i));
  return symbol(std::move(formula), evaluate(arguments)(cell.row(), cell.column()));
}

Term explain_log_sums(CallCell& cell) { return worked_out_cell(cell, log_sums, 1, "Σ log " + cell.name(0)); }

template <Pairs pairs>
Term explain_difference_scores(CallCell& cell) {
  return worked_out_cell(
      cell, difference_scores<pairs>, 3,
      "Σ " + cell.name(0) + "·" + cell.name(1) + "·exp(difference of " + cell.name(2) + ")");
}

template <Pairs pairs>
Term explain_difference_mask(CallCell& cell) {
  return worked_out_cell(cell, difference_mask<pairs>, 1, "exp(difference of " + cell.name(0) + ")");
}

Term explain_doubling(CallCell& cell) {
  return worked_out_cell(cell, solve_by_doubling, 2, "inverse(" + cell.name(0) + ")");
}

Pattern in_brackets(const std::string& latex) { return {latex, Precedence::atom, Precedence::atom}; }

}  // namespace

std::vector<Function> fragile_functions() {
  return {
      function("log_sums", "[L, K] -> [L, K]", in_brackets(R"(\left[\log #1_{1:i}\right]_{i})"), log_sums,
               explain_log_sums, "the logarithms of all decays up to this token, added up"),
      function("decay_mask_late", "[L, 1] -> [L, L]",
               in_brackets(R"(\left[\exp\left(#1_i - #1_j\right)\right]_{i,j} \odot M)"),
               difference_mask<Pairs::all>, explain_difference_mask<Pairs::all>,
               "the fading between all pairs, growing towards later tokens, then times 0 for those"),
      function(
          "decay_scores_late", "[L, K], [L, K], [L, K] -> [L, L]",
          in_brackets(
              R"(\left[\sum_{d} #1_{i,d} #2_{j,d} \exp\left(#3_{i,d} - #3_{j,d}\right)\right]_{i,j} \odot M)"),
          difference_scores<Pairs::all>, explain_difference_scores<Pairs::all>,
          "every reading meets every writing, later ones too, then times 0 for those"),
      function("decay_mask_differences", "[L, 1] -> [L, L]",
               in_brackets(R"(\left[\exp\left(#1_i - #1_j\right)\right]_{j \le i})"),
               difference_mask<Pairs::masked>, explain_difference_mask<Pairs::masked>,
               "the fading between two tokens from the difference of two sums of logarithms"),
      function(
          "decay_scores_differences", "[L, K], [L, K], [L, K] -> [L, L]",
          in_brackets(
              R"(\left[\sum_{d} #1_{i,d} #2_{j,d} \exp\left(#3_{i,d} - #3_{j,d}\right)\right]_{j \le i})"),
          difference_scores<Pairs::masked>, explain_difference_scores<Pairs::masked>,
          "a reading meets an earlier writing, faded by the difference of two sums of logarithms"),
      function(
          "solve_by_doubling", "[L, L], [L, D] -> [L, D]",
          {R"((I - #1)\left(I + \left(#1\right)^{2}\right)\left(I + \left(#1\right)^{4}\right)\cdots #2)",
           Precedence::product, Precedence::atom},
          solve_by_doubling, explain_doubling,
          "the inverse as a product of ever higher powers, each of them large before they cancel"),
  };
}

}  // namespace palimpsest
