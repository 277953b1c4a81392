// Rows whose channels fade from token to token: the solve and the read of value-side decay (spec 2.5).

#include "core/functions/rows.h"

namespace palimpsest {

namespace {

/// What is left of row j of `rows` when row i comes: mu_{j+1:i} o row j.
RowVector<double> left_of(const Matrix<double>& rows, const Matrix<double>& mu, Index j, Index i) {
  RowVector<double> left = rows.row(j);
  for (Index l = j + 1; l <= i; ++l) left = left.cwiseProduct(mu.row(l));
  return left;
}

/// U_i = R_i - sum_{j<i} N_ij (mu_{j+1:i} o U_j).
Matrix<double> solve_fading(Arguments a) {
  Matrix<double> U = a[1];
  for (Index i = 0; i < U.rows(); ++i) {
    for (Index j = 0; j < i; ++j) U.row(i) -= a[0](i, j) * left_of(U, a[2], j, i);
  }
  return U;
}

/// O_i = sum_{j<=i} P_ij (mu_{j+1:i} o U_j).
Matrix<double> read_fading(Arguments a) {
  Matrix<double> O = Matrix<double>::Zero(a[1].rows(), a[1].cols());
  for (Index i = 0; i < O.rows(); ++i) {
    for (Index j = 0; j <= i; ++j) O.row(i) += a[0](i, j) * left_of(a[1], a[2], j, i);
  }
  return O;
}

}  // namespace

std::vector<Function> value_decay_functions() {
  return {
      function(
          "solve_fading", "[L, L], [L, D], [L, D] -> [L, D]",
          {R"(\left(I + #1 \odot #3_{j+1:i}\right)^{-1} #2)", Precedence::product, Precedence::product},
          solve_fading, {},
          "the right side, less what the earlier rows of the result still say, each channel faded by its own "
          "decays in between"),
      function("read_fading", "[L, L], [L, D], [L, D] -> [L, D]",
               {R"(\left(#1 \odot #3_{j+1:i}\right) #2)", Precedence::product, Precedence::product},
               read_fading, {}, "the rows written so far, each channel faded by its own decays in between"),
  };
}

}  // namespace palimpsest
