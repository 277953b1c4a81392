#include "app/session/scales.h"

#include "tests/catch.h"
#include "tests/session/opened.h"

using namespace palimpsest;

namespace {

/// The share of the magnitudes in `rows` that do not exceed `scale`.
double share_within(const Matrix<double>& rows, double scale) {
  return (rows.array().abs() <= scale).cast<double>().mean();
}

}  // namespace

TEST_CASE("the scales of kinds are reached, and exceeded by few numbers", "[scales]") {
  Choice choice;
  choice.variant = "gated_deltanet";
  const auto data = std::make_shared<const DataSet>(open_data("preset:random?T=257&K=11&V=7"));
  const auto computed = compute(data, choice);
  const KindScales& scales = computed->scales;
  const Matrix<double> values = computed->sequence.at("v").all<double>();
  for (const auto& [rows, scale] :
       {std::pair(computed->sequence.at("k").all<double>(), scales.key),
        std::pair(computed->sequence.at("q").all<double>(), scales.query), std::pair(values, scales.value),
        std::pair(computed->reference->expected().o, scales.output)}) {
    CHECK(share_within(rows, scale) >= 0.995);
    CHECK(share_within(rows, scale) < 0.996);  // 257 x 7 numbers: one is less than a thousandth
    CHECK((rows.array().abs() == scale).any());
  }
  CHECK(quantile({3, 1, 2}, 0.5) == 2);
  CHECK(quantile({}, 0.5) == 0);
  CHECK(quantile({std::numeric_limits<double>::infinity(), 4}, 1) == 4);
}

TEST_CASE("nineteen values in twenty are no longer than their usual length", "[scales]") {
  const auto data = std::make_shared<const DataSet>(open_data("capture:gated_deltanet_overwrite_l1"));
  const auto computed = compute(data, {});
  const Matrix<double> lengths = computed->sequence.at("v").all<double>().rowwise().norm();
  const double usual = computed->scales.value_length;
  CHECK((lengths.array() <= usual).cast<double>().mean() >= 0.94);
  CHECK((lengths.array() < usual).cast<double>().mean() <= 0.95);
  CHECK((lengths.array() < 0.99 * usual).cast<double>().mean() > 0.5);
}
