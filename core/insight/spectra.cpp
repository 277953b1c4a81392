#include "core/insight/spectra.h"

#include <Eigen/Eigenvalues>

#include <numeric>

#include "core/base/refuse.h"
#include "core/insight/memory_change.h"
#include "core/numbers/matrix_functions.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

double effective_rank(const Vector<double>& singular_values) {
  const double largest = singular_values.size() == 0 ? 0 : singular_values.maxCoeff();
  if (largest == 0) return 0;
  const Vector<double> relative = singular_values / largest;  // their sum cannot overflow
  const double sum = relative.sum();
  double entropy = 0;
  for (const double value : relative) {
    const double share = value / sum;
    if (share > 0) entropy -= share * std::log(share);
  }
  return std::exp(entropy);
}

std::vector<Spectrum> spectra_at(const Variant& variant, const Sequence& sequence, Index tokens,
                                 std::stop_token stop) {
  require_memory_to_ask(variant);
  const Index written = tokens_written(sequence, tokens_per_step(variant, sequence), tokens);
  std::vector<Spectrum> spectra;
  for (const auto& [name, state] : states_at(variant, sequence, written, std::move(stop))) {
    if (!state.allFinite()) refuse("the state {} after {} tokens is not finite", name, tokens);
    const Vector<double> values = singular_values(state);
    spectra.push_back({name, values, effective_rank(values)});
  }
  return spectra;
}

MatrixFigures matrix_figures(const Matrix<double>& X, Index parts, std::stop_token stop) {
  MatrixFigures figures{.counts = Vector<double>::Zero(parts)};
  std::vector<double> finite;
  std::ranges::copy_if(X.reshaped(), std::back_inserter(finite),
                       [](double value) { return std::isfinite(value); });
  figures.not_finite = X.size() - std::ssize(finite);
  if (finite.empty()) return figures;
  figures.least = std::ranges::min(finite);
  figures.largest = std::ranges::max(finite);
  const double squares = std::inner_product(finite.begin(), finite.end(), finite.begin(), 0.0);
  figures.root_mean_square = std::sqrt(squares / static_cast<double>(finite.size()));
  figures.range = std::max(-figures.least, figures.largest);
  for (const double value : finite) {
    const double share = figures.range > 0 ? (value / figures.range + 1) / 2 : 0.5;
    const auto part = static_cast<Index>(share * static_cast<double>(parts));
    figures.counts(std::clamp<Index>(part, 0, parts - 1)) += 1;
  }
  stop_if_asked(stop);
  if (figures.not_finite > 0 || std::max(X.rows(), X.cols()) > longest_side_of_spectrum) return figures;
  figures.singular_values =
      X.rows() <= X.cols() ? singular_values(X) : singular_values(Matrix<double>(X.transpose()));
  figures.effective_rank = effective_rank(figures.singular_values);
  return figures;
}

KeyDirections key_directions(const Matrix<double>& keys) {
  Matrix<double> unit = keys;
  for (Index i = 0; i < unit.rows(); ++i) {
    const double length = unit.row(i).stableNorm();
    if (length > 0) unit.row(i) /= length;
  }
  KeyDirections found{Matrix<double>::Zero(keys.rows(), 3), Vector<double>::Zero(3)};
  if (keys.size() == 0) return found;
  // The right singular vectors are the eigenvectors of K^T K, the largest eigenvalue last.
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(Eigen::MatrixXd(unit.transpose() * unit));
  const double all = unit.squaredNorm();
  const Index channels = keys.cols();
  for (Index i = 0; i < std::min<Index>(3, channels); ++i) {
    found.points.col(i) = unit * solver.eigenvectors().col(channels - 1 - i);
    if (all > 0) found.explained[i] = std::max(solver.eigenvalues()[channels - 1 - i], 0.0) / all;
  }
  return found;
}

}  // namespace palimpsest
