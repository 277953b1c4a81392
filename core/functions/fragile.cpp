// Formulas that are right on paper and fail in numbers (spec 2.6): no form computes with these. Fragile forms
// (core/fragile_forms.h) do. G_i = log alpha_1 + ... + log alpha_i throughout.

#include <cmath>

#include "core/functions/rows.h"

namespace palimpsest {

namespace {

/// How exp(G_i - G_j) comes about.
enum class Way {
  divided,      // exp(G_i) exp(-G_j)
  late_mask,    // of all pairs, then times a mask of 0 and 1
  differences,  // of the pairs j <= i
};

/// G: [L, K].
Matrix<double> log_sums(const Matrix<double>& alpha) {
  Matrix<double> G = alpha.array().log().matrix();
  for (Index i = 1; i < G.rows(); ++i) G.row(i) += G.row(i - 1);
  return G;
}

/// x y exp(G_i - G_j).
template <Way way>
double pair(double x, double y, double later, double earlier) {
  if constexpr (way == Way::divided) return (x * std::exp(later)) * (y * std::exp(-earlier));
  return x * y * std::exp(later - earlier);
}

/// Z_ij = sum_d X_id Y_jd exp(G_id - G_jd) for j <= i.
template <Way way>
Matrix<double> scores(const Matrix<double>& X, const Matrix<double>& Y, const Matrix<double>& alpha) {
  const Index L = X.rows();
  const Matrix<double> G = log_sums(alpha);
  Matrix<double> Z = Matrix<double>::Zero(L, L);
  for (Index i = 0; i < L; ++i) {
    const Index pairs = way == Way::late_mask ? L : i + 1;
    for (Index j = 0; j < pairs; ++j) {
      for (Index d = 0; d < X.cols(); ++d) Z(i, j) += pair<way>(X(i, d), Y(j, d), G(i, d), G(j, d));
      Z(i, j) *= j <= i ? 1 : 0;
    }
  }
  return Z;
}

template <Way way>
Matrix<double> fragile_scores(Arguments a) {
  return scores<way>(a[0], a[1], a[2]);
}

template <Way way>
Matrix<double> fragile_mask(Arguments a) {
  const Matrix<double> ones = Matrix<double>::Ones(a[0].rows(), 1);
  return scores<way>(ones, ones, a[0]);
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

template <Way way>
Term explain_fragile_scores(CallCell& cell) {
  return worked_out_cell(cell, fragile_scores<way>, 3, "scores(" + cell.name(0) + ", " + cell.name(1) + ")");
}

template <Way way>
Term explain_fragile_mask(CallCell& cell) {
  return worked_out_cell(cell, fragile_mask<way>, 1, "decay(" + cell.name(0) + ")");
}

Term explain_doubling(CallCell& cell) {
  return worked_out_cell(cell, solve_by_doubling, 2, "inverse(" + cell.name(0) + ")");
}

const Pattern mask_pattern(const std::string& latex) { return {latex, Precedence::atom, Precedence::atom}; }

}  // namespace

std::vector<Function> fragile_functions() {
  return {
      function("decay_mask_divided", "[L, 1] -> [L, L]",
               mask_pattern(R"(\left[e^{G_i} e^{-G_j}\right]_{j \le i}\left(#1\right))"),
               fragile_mask<Way::divided>, explain_fragile_mask<Way::divided>,
               "what is left of the start at token i, divided by what was left of it at token j"),
      function("decay_scores_divided", "[L, K], [L, K], [L, K] -> [L, L]",
               mask_pattern(
                   R"(\mathrm{tril}\left((#1 \odot e^{G})(#2 \odot e^{-G})^{\top}\right)\left(#3\right))"),
               fragile_scores<Way::divided>, explain_fragile_scores<Way::divided>,
               "readings faded from the start meet writings divided by the same fading"),
      function("decay_mask_late", "[L, 1] -> [L, L]",
               mask_pattern(R"(\left[e^{G_i - G_j}\right]_{i,j}\left(#1\right) \odot M)"),
               fragile_mask<Way::late_mask>, explain_fragile_mask<Way::late_mask>,
               "the fading between all pairs, growing towards later tokens, then times 0 for those"),
      function(
          "decay_scores_late", "[L, K], [L, K], [L, K] -> [L, L]",
          mask_pattern(
              R"(\left[\sum_{d} #1_{i,d} #2_{j,d} e^{G_{i,d} - G_{j,d}}\right]_{i,j}\left(#3\right) \odot M)"),
          fragile_scores<Way::late_mask>, explain_fragile_scores<Way::late_mask>,
          "every reading meets every writing, later ones too, then times 0 for those"),
      function("decay_mask_differences", "[L, 1] -> [L, L]",
               mask_pattern(R"(\left[e^{G_i - G_j}\right]_{j \le i}\left(#1\right))"),
               fragile_mask<Way::differences>, explain_fragile_mask<Way::differences>,
               "the fading between two tokens from the difference of two sums of logarithms"),
      function(
          "decay_scores_differences", "[L, K], [L, K], [L, K] -> [L, L]",
          mask_pattern(
              R"(\left[\sum_{d} #1_{i,d} #2_{j,d} e^{G_{i,d} - G_{j,d}}\right]_{j \le i}\left(#3\right))"),
          fragile_scores<Way::differences>, explain_fragile_scores<Way::differences>,
          "a reading meets an earlier writing, faded by the difference of two sums of logarithms"),
      function("solve_by_doubling", "[L, L], [L, D] -> [L, D]",
               {R"((I - #1)(I + #1^{2})(I + #1^{4})\cdots #2)", Precedence::product, Precedence::atom},
               solve_by_doubling, explain_doubling,
               "the inverse as a product of ever higher powers, each of them large before they cancel"),
  };
}

}  // namespace palimpsest
