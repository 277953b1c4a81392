// Formulas that are right on paper and fail in numbers (spec 2.6): no form computes with these. Fragile forms
// (core/proof/fragile_forms.h) do.

#include <cmath>

#include "core/formula/functions/rows.h"

namespace palimpsest {

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
