#pragma once

// Catch2 in its version 2 (Debian 12) or 3 (newer systems). Approx is in the global namespace in both.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
