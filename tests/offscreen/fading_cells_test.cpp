// How decay factors are coloured.

#include "app/stage/fading_cells.h"

#include <cmath>

#include "app/window/offscreen.h"
#include "core/numbers/between.h"
#include "tests/catch.h"

using namespace palimpsest;

TEST_CASE("of decay factors one is paper, and what is lost counts by its logarithm", "[fading]") {
  CHECK(forgotten_part(1) == 0);
  CHECK(forgotten_part(1 - 1e-5) == 0);
  CHECK(std::abs(forgotten_part(0.999) - 0.25) < 1e-9);
  CHECK(std::abs(forgotten_part(0.99) - 0.5) < 1e-9);
  CHECK(forgotten_part(0) == 1);
  CHECK(forgotten_part(1.5) == 0);
  CHECK(forgotten_part(-1) == 1);
}

TEST_CASE(
    "cells of factors are coloured below zero, what a mask leaves out is none, other tensors keep theirs",
    "[fading]") {
  const Offscreen context(64, 64);
  Matrix<double> kept(3, 3);
  kept << 1, 0, 0, 0.99, 1, 0, 0, 0.9, 1;  // nothing is left of the first word for the third
  const Matrix<double>* cells = fading_cells("here", "G", kept, 7);
  REQUIRE(cells);
  CHECK((*cells)(0, 0) == 0);
  CHECK(std::abs((*cells)(1, 0) + 0.5) < 1e-9);
  CHECK((*cells)(2, 0) == -1);
  for (const auto& [row, column] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)})
    CHECK(std::isinf((*cells)(row, column)));
  // A gate without a triangle may forget all.
  const Matrix<double> gates = Matrix<double>::Zero(3, 1);
  REQUIRE(fading_cells("gates", "alpha", gates, 7));
  CHECK((*fading_cells("gates", "alpha", gates, 7))(0, 0) == -1);
  CHECK(fading_cells("other", "P", kept, 7) == nullptr);
  kept(1, 0) = 1.2;  // no factor: what is kept of it is made anew with its version
  CHECK(fading_cells("here", "G", kept, 7) != nullptr);
  CHECK(fading_cells("here", "G", kept, 8) == nullptr);
}
