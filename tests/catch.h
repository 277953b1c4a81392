#pragma once

// Catch2 in its version 2 (Debian 12) or 3 (newer systems). Approx is in the global namespace in both.

#define CATCH_CONFIG_FAST_COMPILE  // what throws in an assertion ends its test
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#include <limits>
#include <string>

namespace palimpsest::testing {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();

/// Matches a message that contains `part`; the two versions of Catch2 name this matcher differently.
inline auto says(const std::string& part) {
#if __has_include(<catch2/catch_all.hpp>)
  return Catch::Matchers::ContainsSubstring(part);
#else
  return Catch::Matchers::Contains(part);
#endif
}

}  // namespace palimpsest::testing
