#pragma once

#include <string>

namespace palimpsest {

/// The version of this program.
std::string version();

/// The compiler that built it: "GCC 12.2.0".
std::string compiler();

/// The version of Eigen that it was built with.
std::string eigen_version();

}  // namespace palimpsest
