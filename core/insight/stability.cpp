#include "core/insight/stability.h"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

namespace palimpsest {

namespace {

using Eigenvalues = std::vector<std::complex<double>>;

/// Whether H is one key times itself, as of a squared error of one pair: H_ij H_mm = H_im H_mj, up to the
/// rounding of the products.
bool is_of_one_key(const Matrix<double>& H) {
  constexpr double rounding = 8 * std::numeric_limits<double>::epsilon();
  Index m = 0;
  const double top = H.diagonal().maxCoeff(&m);
  if (!(top > 0)) return false;
  const Matrix<double> product = H.col(m) * H.row(m);
  return ((top * H - product).array().abs() <= rounding * product.array().abs()).all();
}

void append(Eigenvalues& all, const Matrix<double>& H, bool symmetric) {
  if (symmetric && is_of_one_key(H)) {
    all.emplace_back(H.trace());  // along the key; nothing bends across it
    all.resize(all.size() + static_cast<std::size_t>(H.rows()) - 1);
  } else if (symmetric) {
    const Eigen::SelfAdjointEigenSolver<Matrix<double>> solver(H, Eigen::EigenvaluesOnly);
    for (const double value : solver.eigenvalues()) all.emplace_back(value);
  } else {
    const Eigen::EigenSolver<Matrix<double>> solver(H, false);
    for (const std::complex<double>& value : solver.eigenvalues()) all.push_back(value);
  }
}

bool columns_are_equal(const Matrix<double>& X) { return (X.colwise() - X.col(0)).isZero(0); }

}  // namespace

std::optional<std::vector<std::complex<double>>> hessian_eigenvalues(const InnerProblem& problem) {
  const Index K = problem.at[0].rows();
  const Index V = problem.at[0].cols();
  std::vector<Hessian> parts;
  Matrix<double> keys = Matrix<double>::Zero(K, K);
  bool symmetric = true;
  bool alike = true;  // every column of S bends alike
  for (const WeighedTerm& term : problem.terms) {
    std::optional<Hessian> part = term.of->hessian(problem.at);
    if (!part) return std::nullopt;
    if (!part->keys.allFinite() || !part->cells.allFinite()) return std::nullopt;
    const Matrix<double>& P = term.preconditioner;
    if (P.size() > 0) {
      symmetric = false;
      part->keys = P * part->keys;
    }
    keys += part->keys;
    alike = alike && columns_are_equal(part->cells);
    parts.push_back(std::move(*part));
  }
  Eigenvalues all;
  for (Index column = 0; column < (alike ? 1 : V); ++column) {
    Matrix<double> H = keys;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Matrix<double>& P = problem.terms[i].preconditioner;
      const Matrix<double> cells = parts[i].cells.col(column).asDiagonal();
      H += P.size() == 0 ? cells : Matrix<double>(P * cells);
    }
    if (H.isDiagonal(0)) {
      for (const double value : H.diagonal()) all.emplace_back(value);
    } else {
      append(all, H, symmetric);
    }
  }
  return all;
}

double growth(const InnerProblem& problem, std::complex<double> eigenvalue) {
  const std::complex<double> moved = problem.kept - problem.rate * eigenvalue;
  const double m = problem.momentum;
  const std::complex<double> half = (moved + m) / 2.0;
  const std::complex<double> root = std::sqrt(half * half - problem.kept * m);
  return std::max(std::abs(half + root), std::abs(half - root));
}

double largest_stable_rate(const InnerProblem& problem, std::complex<double> eigenvalue) {
  if (eigenvalue == 0.0) return std::numeric_limits<double>::infinity();
  if (eigenvalue.real() <= 0) return 0;
  if (eigenvalue.imag() != 0) return 2 * eigenvalue.real() / std::norm(eigenvalue);
  return (1 + problem.kept) * (1 + problem.momentum) / eigenvalue.real();
}

}  // namespace palimpsest
