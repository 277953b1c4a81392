#pragma once

#include <stop_token>

#include "core/base/matrix.h"

namespace palimpsest {

/// What can be said of a matrix besides its entries.
struct MatrixFigures {
  double least = 0;  // of the finite entries
  double largest = 0;
  double root_mean_square = 0;
  Index not_finite = 0;        // how many entries are not
  Vector<double> counts = {};  // of the finite entries, in equal parts from -range to range
  double range = 0;            // their largest magnitude
  Vector<double> singular_values =
      {};                     // largest first; empty where an entry is not finite or there are too many
  double effective_rank = 0;  // 0 where there are none
};

/// The longer side beyond which singular values are left out: they would take seconds.
inline constexpr Index longest_side_of_spectrum = 512;

/// Those of X [R, C], counted in `parts` parts. Throws Cancelled.
MatrixFigures matrix_figures(const Matrix<double>& X, Index parts, std::stop_token stop = {});

}  // namespace palimpsest
