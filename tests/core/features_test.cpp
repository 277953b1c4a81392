#include "core/numbers/features.h"

#include <cmath>

#include "core/formula/expression.h"
#include "tests/catch.h"

using namespace palimpsest;

TEST_CASE("taylor1 takes the direction of a vector without length to be 0", "[features]") {
  Matrix<double> x(3, 2);
  x << 0, 0, 3, 4, 3e-200, 4e-200;
  const Matrix<double> phi = features<double>("taylor1", x);
  CHECK(phi.row(0) == RowVector<double>({{1, 0, 0}}));
  for (const Index row : {1, 2}) {
    CHECK(phi(row, 1) == Approx(0.6));
    CHECK(phi(row, 2) == Approx(0.8));
  }
  const Function& rows = find_function("row_features/taylor1");
  const std::vector<Matrix<double>> arguments = {x};
  CHECK((rows.evaluate(arguments) - phi).cwiseAbs().maxCoeff() < 1e-15);
}

TEST_CASE("maps go together that make the same number of features of any number of channels") {
  for (const std::string& map : feature_maps()) {
    CHECK(same_feature_count(map, map));
    for (const std::string& other : feature_maps()) {
      INFO(map << ' ' << other);
      if (map == other) continue;
      bool same = map != "favor" && other != "favor";
      for (Index channels = 1; same && channels <= 8; ++channels)
        same = feature_count(map, channels) == feature_count(other, channels);
      CHECK(same_feature_count(map, other) == same);
    }
  }
}
