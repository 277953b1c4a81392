// Functions of wrong formulas, which no form computes with: for injected faults, and for fragile forms, which
// are right in exact arithmetic but fail numerically (spec 2.6): core/proof/faults.h.

#include "core/formula/functions.h"

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

}  // namespace

std::vector<Function> wrong_functions() {
  using enum Precedence;
  const auto causal_one = [](const auto& cell) { return cell.number(cell.column() <= cell.row() ? 1 : 0); };
  const auto causal_product = [](const auto& cell) { return is_past(cell) ? cell.here(0) : cell.number(0); };
  const auto lower_but_one = [](const auto& cell) {
    return cell.column() + 1 < cell.row() ? cell.here(0) : cell.number(0);
  };
  const auto is_last_row = [](const auto& cell) { return cell.row() + 1 == cell.shape(0).rows; };
  const auto without_last_row = [=](const auto& cell) {
    return is_last_row(cell) ? cell.number(0) : cell.here(0);
  };
  const auto last_row_twice = [=](const auto& cell) {
    return is_last_row(cell) ? cell.number(2) * cell.here(0) : cell.here(0);
  };
  const auto same = [](const auto& cell) { return cell.here(0); };
  const auto log_sum = [](const CallCell& cell) { return "Σ log " + cell.name(0); };
  const auto difference = [](const CallCell& cell) { return "exp(difference of " + cell.name(0) + ")"; };
  const auto scores = [](const CallCell& cell) {
    return "Σ " + cell.name(0) + "·" + cell.name(1) + "·exp(difference of " + cell.name(2) + ")";
  };
  const auto inverse = [](const CallCell& cell) { return "inverse(" + cell.name(0) + ")"; };
  return {
      by_cell("all_ones", "[L, M] -> [L, M]", subscripted("#1^{0}"),
              [](const auto& cell) { return cell.number(1); }),
      by_cell("causal_ones", "[L, M] -> [L, L]", {R"(\left[\left(#1\right)^{0}\right]_{j \le i})"},
              causal_one),
      by_cell("causal_product", "[L, M], [1, 1], [1, 1] -> [L, M]", {R"(#1 \odot M)", hadamard, hadamard},
              causal_product),
      by_cell("lower_but_one", "[L, M] -> [L, M]", applied("stril^{-}"), lower_but_one),
      by_cell("without_last_row", "[L, M] -> [L, M]", subscripted("#1_{1:L-1}"), without_last_row),
      by_cell("last_row_twice", "[L, M] -> [L, M]", subscripted("#1_{1:L,L}"), last_row_twice),
      by_cell("first_channels", "[V+1, 1] -> [V, 1]", subscripted("#1_{1:V}"), same),
      by_cell("row_first_channels", "[L, V+1] -> [L, V]", subscripted("#1_{:,1:V}"), same),
      by_number("log_sums", "[L, K] -> [L, K]", subscripted(R"(\left[\log #1_{1:i}\right]_{i})"), log_sums, 1,
                log_sum),
      by_number("decay_mask_late", "[L, 1] -> [L, L]",
                subscripted(R"(\left[\exp\left(#1_i - #1_j\right)\right]_{i,j} \odot M)"),
                difference_mask<Pairs::all>, 1, difference),
      by_number(
          "decay_scores_late", "[L, K], [L, K], [L, K] -> [L, L]",
          subscripted(
              R"(\left[\sum_{d} #1_{i,d} #2_{j,d} \exp\left(#3_{i,d} - #3_{j,d}\right)\right]_{i,j} \odot M)"),
          difference_scores<Pairs::all>, 3, scores),
      by_number("decay_mask_differences", "[L, 1] -> [L, L]",
                subscripted(R"(\left[\exp\left(#1_i - #1_j\right)\right]_{j \le i})"),
                difference_mask<Pairs::masked>, 1, difference),
      by_number(
          "decay_scores_differences", "[L, K], [L, K], [L, K] -> [L, L]",
          subscripted(
              R"(\left[\sum_{d} #1_{i,d} #2_{j,d} \exp\left(#3_{i,d} - #3_{j,d}\right)\right]_{j \le i})"),
          difference_scores<Pairs::masked>, 3, scores),
      by_number(
          "solve_by_doubling", "[L, L], [L, D] -> [L, D]",
          {R"((I - #1)\left(I + \left(#1\right)^{2}\right)\left(I + \left(#1\right)^{4}\right)\cdots #2)",
           product, atom},
          solve_by_doubling, 2, inverse),
  };
}

}  // namespace palimpsest
