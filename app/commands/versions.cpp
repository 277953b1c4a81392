#include "app/commands/versions.h"

#include <fmt/format.h>

#include <Eigen/Core>

#include "commit.h"

namespace palimpsest {

std::string version() { return PALIMPSEST_VERSION; }

std::string commit() { return PALIMPSEST_COMMIT; }

std::string compiler() {
#ifdef __clang__
  return fmt::format("Clang {}", __clang_version__);
#else
  return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string eigen_version() {
  return fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
}

}  // namespace palimpsest
