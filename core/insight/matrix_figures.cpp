#include "core/insight/matrix_figures.h"

#include <algorithm>
#include <cmath>

#include "core/base/stop.h"
#include "core/insight/spectra.h"
#include "core/numbers/singular_values.h"

namespace palimpsest {

MatrixFigures matrix_figures(const Matrix<double>& X, Index parts, std::stop_token stop) {
  MatrixFigures figures{.counts = Vector<double>::Zero(parts)};
  double squares = 0;
  bool is_first = true;
  for (const double value : X.reshaped()) {
    if (!std::isfinite(value)) {
      ++figures.not_finite;
      continue;
    }
    figures.least = is_first ? value : std::min(figures.least, value);
    figures.largest = is_first ? value : std::max(figures.largest, value);
    is_first = false;
    squares += value * value;
  }
  const Index finite = X.size() - figures.not_finite;
  if (finite == 0) return figures;
  figures.root_mean_square = std::sqrt(squares / static_cast<double>(finite));
  figures.range = std::max(-figures.least, figures.largest);
  for (const double value : X.reshaped()) {
    if (!std::isfinite(value)) continue;
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

}  // namespace palimpsest
