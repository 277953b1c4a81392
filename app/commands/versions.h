#pragma once

#include <string>

namespace palimpsest {

/// The version of this program: "0.1.0".
std::string version();

/// The commit that it was built from: "8b2397777cd2", "8b2397777cd2-dirty" with changes on top of it,
/// "unknown" where neither git nor the source archive says.
std::string commit();

/// The compiler that built it: "GCC 12.2.0".
std::string compiler();

/// The version of Eigen that it was built with.
std::string eigen_version();

}  // namespace palimpsest
