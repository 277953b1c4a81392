#pragma once

#include <algorithm>
#include <cmath>
#include <iostream>
#include <vector>

#include "kernels/device.h"
#include "tests/catch.h"
#include "tests/core/cases.h"

namespace palimpsest::testing {

/// Whether kernels can run here. If not, a line says so by which ctest shows the test as skipped.
inline bool has_gpu() {
  if (cuda_unavailable().empty()) return true;
  std::cout << "SKIP: " << cuda_unavailable() << '\n';
  return false;
}

/// The largest size of a finite number in X, and the largest distance of two numbers in the same place of X
/// and Y: infinite where their shapes differ, or one of two that differ is not finite.
inline double largest(const Matrix<double>& X) {
  return X.size() == 0 ? 0 : X.array().isFinite().select(X.array().abs(), 0.0).maxCoeff();
}
inline double furthest_apart(const Matrix<double>& X, const Matrix<double>& Y) {
  if (X.rows() != Y.rows() || X.cols() != Y.cols()) return infinity;
  double furthest = 0;
  for (Index i = 0; i < X.size(); ++i) {
    const double apart = std::abs(X.data()[i] - Y.data()[i]);
    if (X.data()[i] != Y.data()[i]) furthest = std::max(furthest, std::isfinite(apart) ? apart : infinity);
  }
  return furthest;
}

/// Calls visit(each, form) for every form of these cases that the device computes in this precision.
template <class Visit>
void for_every_form(const std::vector<Case>& cases, Precision precision, Visit visit) {
  if (!has_gpu()) return;
  for (const Case& each : cases) {
    for (const Form form : each.forms()) {
      if (cuda_backend().missing(*each.variant, each.settings, form, precision)) continue;
      INFO(each.words << ' ' << name(form) << ' ' << name(precision));
      visit(each, form);
    }
  }
}

/// Every rule with its usual options.
inline std::vector<Case> usual_cases(const RandomCase& random) {
  std::vector<Case> cases;
  for (const Variant& variant : variants()) cases.push_back(random_case(variant, {}, random));
  return cases;
}

}  // namespace palimpsest::testing
