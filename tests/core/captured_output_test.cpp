// What the layers of trained models really gave out is what our recurrence gives on what went in.

#include <fmt/format.h>

#include <cmath>

#include "core/io/capture.h"
#include "tests/catch.h"
#include "tests/core/cases.h"
#include "tests/folders.h"

using namespace palimpsest;

namespace {

Settings with_scale(const Capture& capture) {
  Settings settings;
  if (capture.scale) settings.parameters["scale"] = *capture.scale;
  return settings;
}

/// max|ours - o| / max|o| over all heads of the capture, run as `variant`.
double reproduction_error(const Capture& capture, const Variant& variant, const Arrays& arrays) {
  const Array& o = capture.arrays.at("o");
  const SequenceBatch batch =
      palimpsest::bind(variant, std::make_shared<const Arrays>(arrays), with_scale(capture));
  REQUIRE(o.shape ==
          std::vector<Index>{batch.heads.front().tokens, batch.head_count, batch.heads.front().dv});
  double furthest = 0;
  double largest = 0;
  for (Index head = 0; head < batch.head_count; ++head) {
    const Output ours =
        variant.rule->run(batch.heads[static_cast<std::size_t>(head)], Form::recurrent, Precision::f64, 1);
    for (Index t = 0; t < ours.o.rows(); ++t) {
      for (Index c = 0; c < ours.o.cols(); ++c) {
        const double theirs = o[(t * batch.head_count + head) * ours.o.cols() + c];
        furthest = std::max(furthest, std::abs(ours.o(t, c) - theirs));
        largest = std::max(largest, std::abs(theirs));
      }
    }
  }
  return furthest / largest;
}

/// The arrays with gamma = exp(g) of the first token in the place of a g that is constant in time.
Arrays with_gamma(const Arrays& arrays) {
  Arrays changed = arrays;
  const Array& g = arrays.at("g");
  std::vector<double> gamma;
  for (Index head = 0; head < g.shape[1]; ++head) gamma.push_back(std::exp(g[head]));
  changed["gamma"] = Array({g.shape[1]}, gamma);
  return changed;
}

}  // namespace

TEST_CASE("the f64 recurrence reproduces the output of every capture within its stated error") {
  int captures = 0;
  for (const CaptureSummary& summary : list_captures(assets_folder() + "/captures")) {
    INFO(summary.file.filename().string());
    const Capture capture = read_capture(summary.file);
    REQUIRE(capture.reproduction_error);
    ++captures;
    const bool is_retnet = capture.rule == "retnet";
    const Arrays arrays = is_retnet ? with_gamma(capture.arrays) : capture.arrays;
    // The error is stated with one or two digits.
    const double allowed = 1.1 * *capture.reproduction_error;
    CHECK(reproduction_error(capture, find_variant(capture.rule), arrays) <= allowed);
    if (is_retnet)
      CHECK(reproduction_error(capture, find_variant("scalar_decay"), capture.arrays) <= allowed);
  }
  CHECK(captures >= 14);
}
