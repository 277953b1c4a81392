// What a run on the device takes, in parts, and what the device does at most.

#include "kernels/cuda/measure.h"
#include "core/base/error.h"
#include "core/cases/random_case.h"
#include "core/contract/output.h"
#include "core/variants/variants.h"
#include "kernels/cuda_backend.h"
#include "tests/catch.h"
#include "tests/kernels/gpu.h"

using namespace palimpsest;
using testing::says;

namespace {

/// Two batches of three heads.
SequenceBatch batch_of(const Variant& variant, Index tokens) {
  const Settings settings = random_settings(variant, {}, 1);
  const RandomCase random = fitted(variant, settings, {.tokens = tokens});
  return bind(variant,
              std::make_shared<const Arrays>(repeated_heads(
                  variant, settings, random_arrays(variant, settings, random), 2, 3, Precision::f64)),
              settings);
}

}  // namespace

TEST_CASE("what cannot run on the device is not measured there, for the same reason", "[race]") {
  if (cuda_unavailable().empty()) return;
  const Variant& variant = find_variant("gated_deltanet");
  const SequenceBatch batch = batch_of(variant, 9);
  CHECK_THROWS_WITH(
      cuda_backend().measure(variant, batch.heads, Form::recurrent, Precision::f32, 16, {}),
      says(*cuda_backend().missing(variant, batch.heads.front().settings, Form::recurrent, Precision::f32)));
  CHECK_FALSE(cuda_backend().roof(Precision::f32));
}

TEST_CASE("every run on the device has kernels, transfers and memory, each with a time", "[race]") {
  if (!testing::has_gpu()) return;
  for (const Variant& variant : variants()) {
    const SequenceBatch batch = batch_of(variant, 257);  // longer than a launch takes
    const Settings& settings = batch.heads.front().settings;
    for (const Form form : all_forms) {
      for (const Precision precision : all_precisions) {
        if (cuda_backend().missing(variant, settings, form, precision)) continue;
        INFO(variant.id << ' ' << name(form) << ' ' << name(precision));
        const RunTimes times =
            cuda_backend().measure(variant, batch.heads, form, precision, 16, {.most = 4, .least = 3});
        CHECK(times.compute.size() == 3);  // no seconds are given for a fourth
        for (const double seconds : times.compute) CHECK(seconds > 0);
        CHECK(times.transfers > 0);
        CHECK(times.allocations > 0);
        CHECK(times.whole > times.transfers + times.allocations);  // parts of it, by the same clock
        CHECK(times.spent >= times.whole);
      }
    }
  }
}

TEST_CASE("a run is the same after others were measured, or given up", "[race]") {
  if (!testing::has_gpu()) return;
  const Variant& variant = find_variant("gated_deltanet");
  const SequenceBatch batch = batch_of(variant, 65);
  const auto run = [&] {
    return cuda_backend().run(variant, batch.heads.front(), Form::chunkwise, Precision::f64, 16);
  };
  const Output before = run();
  std::stop_source source;
  source.request_stop();
  CHECK_THROWS_AS(cuda_backend().measure(variant, batch.heads, Form::chunkwise, Precision::f64, 16, {},
                                         source.get_token()),
                  Cancelled);
  CHECK(compare(run(), before).error == 0);
  cuda_backend().measure(variant, batch.heads, Form::chunkwise, Precision::f64, 16, {});
  CHECK(compare(run(), before).error == 0);
}

#if PALIMPSEST_HAS_CUDA
TEST_CASE("what is computed again and again comes out as if it were computed once", "[race]") {
  if (!testing::has_gpu()) return;
  for (const Variant& variant : variants()) {
    const SequenceBatch batch = batch_of(variant, 33);
    for (const Form form : all_forms) {
      if (cuda_backend().missing(variant, batch.heads.front().settings, form, Precision::f64)) continue;
      INFO(variant.id << ' ' << name(form));
      const auto run = [&] {
        return cuda_backend().run_heads(variant, batch.heads, form, Precision::f64, 16);
      };
      const std::vector<Output> once = run();
      std::vector<Output> again;
      const RunTimes times = cuda::measure({.most = 3, .least = 3}, [&] { again = run(); });
      CHECK(times.compute.size() == 3);
      REQUIRE(again.size() == once.size());
      for (std::size_t head = 0; head < once.size(); ++head)
        CHECK(compare(again[head], once[head]).error <= 1e-12);
    }
  }
}
#endif

TEST_CASE("the device says what it does at most", "[race]") {
  if (!testing::has_gpu()) return;
  for (const Precision precision : all_precisions) {
    const auto roof = cuda_backend().roof(precision);
    REQUIRE(roof);
    // No device that runs our kernels is slower than a processor, none is a thousand times an H200.
    CHECK(roof->bytes_per_second > 1e10);
    CHECK(roof->bytes_per_second < 5e15);
    CHECK(roof->flops_per_second > 1e10);
    CHECK(roof->flops_per_second < 5e16);
    CHECK_THAT(roof->product, says(name(precision)));
  }
  CHECK(cuda_devices().front().clock > 1e8);
}
