#include "core/numbers/matrix_functions.h"

#include "tests/catch.h"

using namespace palimpsest;

TEST_CASE("conjugate gradients end after as many steps as there are different eigenvalues", "[numbers]") {
  // In exact arithmetic; with eigenvalues 1 to 3 rounding leaves less than 1e-12.
  Matrix<double> A = Matrix<double>::Identity(5, 5);
  A(1, 1) = 2;
  A(2, 2) = A(3, 3) = 3;
  const Vector<double> b = (Vector<double>(5) << 1, -2, 0.5, 4, 3).finished();
  const Matrix<double> rests = conjugate_gradient_rests(A, b, 20);
  REQUIRE(rests.cols() == 4);
  CHECK(rests(0, 0) == 1);
  CHECK(rests(0, 2) > 1e-3);
  CHECK(rests(0, 3) < 1e-12);
  // The first step by hand: along b as far as b.b / b.A b.
  const Vector<double> first = b.squaredNorm() / b.dot(A * b) * b;
  CHECK(rests(0, 1) == Approx((b - A * first).norm() / b.norm()).epsilon(1e-14));
  CHECK(conjugate_gradient_rests(A, b, 2).cols() == 3);
  CHECK(conjugate_gradient_rests(A, Vector<double>::Zero(5), 9) == Matrix<double>::Zero(1, 1));
}
