#pragma once

// Catch2 in its version 2 (Debian 12) or 3 (newer systems), under one name.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

using Catch::Approx;
