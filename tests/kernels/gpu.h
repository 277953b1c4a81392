#pragma once

#include <iostream>

#include "kernels/device.h"
#include "tests/apart.h"
#include "tests/core/cases.h"

namespace palimpsest::testing {

/// Whether kernels can run here. If not, a line says so by which ctest shows the test as skipped.
inline bool has_gpu() {
  if (cuda_unavailable().empty()) return true;
  std::cout << "SKIP: " << cuda_unavailable() << '\n';
  return false;
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
