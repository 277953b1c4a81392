#pragma once

#include <iostream>

#include "kernels/device.h"

namespace palimpsest::testing {

/// Whether kernels can run here. If not, a line says so by which ctest shows the test as skipped.
inline bool has_gpu() {
  if (cuda_unavailable().empty()) return true;
  std::cout << "SKIP: " << cuda_unavailable() << '\n';
  return false;
}

}  // namespace palimpsest::testing
