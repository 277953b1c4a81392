// Numbers that are made for pictures.

#include <limits>

#include "core/insight/learning.h"
#include "core/insight/memory_change.h"
#include "core/insight/spectra.h"
#include "core/numbers/between.h"
#include "tests/catch.h"

using namespace palimpsest;

TEST_CASE("between two matrices lie both of them, exactly", "[pictures]") {
  Matrix<double> from(2, 3);
  from << 0.1, 1e17, -3, 0.7, 2, 5;
  Matrix<double> to(2, 3);
  to << 0.3, -1, 1e-9, 0.1, 4, 5;
  CHECK(between(from, to, 0) == from);
  CHECK(between(from, to, 1) == to);
  CHECK(between(from, to, 0.5)(1, 1) == 3);
}

TEST_CASE("what is lost is told by powers of ten", "[pictures]") {
  Matrix<double> kept(1, 6);
  kept << 1, 0.99999, 0.9999, 0.99, 0.9, 0;
  const Matrix<double> lost = forgotten_parts(kept);
  CHECK(lost(0, 0) == 0);
  CHECK(lost(0, 1) == 0);
  CHECK(lost(0, 2) == Approx(0).margin(1e-12));
  CHECK(lost(0, 3) == Approx(0.5).epsilon(1e-12));
  CHECK(lost(0, 4) == Approx(0.75).epsilon(1e-12));
  CHECK(lost(0, 5) == 1);
}

TEST_CASE("the figures of a matrix are those of its entries", "[pictures]") {
  Matrix<double> X = Matrix<double>::Zero(3, 2);
  X(0, 0) = -4;
  X(2, 1) = 3;
  const MatrixFigures figures = matrix_figures(X, 4);
  CHECK(figures.least == -4);
  CHECK(figures.largest == 3);
  CHECK(figures.range == 4);
  CHECK(figures.root_mean_square == Approx(5 / std::sqrt(6.0)).epsilon(1e-15));
  CHECK(figures.counts == (Vector<double>(4) << 1, 0, 4, 1).finished());
  REQUIRE(figures.singular_values.size() == 2);
  CHECK(figures.singular_values(0) == Approx(4).epsilon(1e-14));
  CHECK(figures.singular_values(1) == Approx(3).epsilon(1e-14));
  CHECK(figures.effective_rank > 1.9);
  X(1, 1) = std::numeric_limits<double>::quiet_NaN();
  const MatrixFigures broken = matrix_figures(X, 4);
  CHECK(broken.not_finite == 1);
  CHECK(broken.counts.sum() == 5);
  CHECK(broken.singular_values.size() == 0);
}

TEST_CASE("the strongest links are the largest products, the weakest of them first", "[pictures]") {
  Matrix<double> W(2, 3);
  W << 1, -5, 0, 2, 1, 4;
  const Vector<double> x = (Vector<double>(2) << 2, -1).finished();
  const auto links = strong_links(W, x, 3);  // 2 -10 0 / -2 -1 -4
  REQUIRE(links.size() == 3);
  CHECK(links[2].from == 0);
  CHECK(links[2].to == 1);
  CHECK(links[2].amount == -10);
  CHECK(links[1].amount == -4);
  CHECK(std::abs(links[0].amount) == 2);
  CHECK(strong_links(W, x, 99).size() == 5);
}
