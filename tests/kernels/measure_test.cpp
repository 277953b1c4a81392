// What a run on the device takes, in parts, and what the device does at most.

#include "kernels/cuda/measure.h"
#include "core/base/error.h"
#include "core/contract/output.h"
#include "tests/kernels/gpu.h"

using namespace palimpsest;
using testing::says;

namespace {

/// Two batches of three heads like this one.
SequenceBatch batch_of(const testing::Case& each) {
  return bind(*each.variant,
              std::make_shared<const Arrays>(
                  repeated_heads(*each.variant, each.settings, *each.arrays, 2, 3, Precision::f64)),
              each.settings);
}

testing::Case gated_deltanet(Index tokens) {
  return testing::random_case(find_variant("gated_deltanet"), {}, {.tokens = tokens});
}

}  // namespace

TEST_CASE("what cannot run on the device is not measured there, for the same reason", "[race]") {
  if (cuda_unavailable().empty()) return;
  const testing::Case each = gated_deltanet(9);
  CHECK_THROWS_WITH(
      cuda_backend().measure(*each.variant, {&each.sequence, 1}, Form::recurrent, Precision::f32, 16, {}),
      says(*cuda_backend().missing(*each.variant, each.settings, Form::recurrent, Precision::f32)));
  CHECK_FALSE(cuda_backend().roof(Precision::f32));
}

TEST_CASE("every run on the device has kernels, transfers and memory, each with a time", "[race]") {
  const auto cases = testing::usual_cases({.tokens = 257});  // longer than a launch takes
  for (const Precision precision : all_precisions) {
    testing::for_every_form(cases, precision, [&](const testing::Case& each, Form form) {
      const RunTimes times = cuda_backend().measure(*each.variant, batch_of(each).heads, form, precision, 16,
                                                    {.most = 4, .least = 3});
      CHECK(times.compute.size() == 3);  // no seconds are given for a fourth
      for (const double seconds : times.compute) CHECK(seconds > 0);
      CHECK(times.transfers > 0);
      CHECK(times.allocations > 0);
      CHECK(times.whole > times.transfers + times.allocations);  // parts of it, by the same clock
      CHECK(times.spent >= times.whole);
    });
  }
}

TEST_CASE("a run is the same after others were measured, or given up", "[race]") {
  if (!testing::has_gpu()) return;
  const testing::Case each = gated_deltanet(65);
  const SequenceBatch batch = batch_of(each);
  const auto run = [&] {
    return cuda_backend().run(*each.variant, each.sequence, Form::chunkwise, Precision::f64, 16);
  };
  const Output before = run();
  std::stop_source source;
  source.request_stop();
  CHECK_THROWS_AS(cuda_backend().measure(*each.variant, batch.heads, Form::chunkwise, Precision::f64, 16, {},
                                         source.get_token()),
                  Cancelled);
  CHECK(compare(run(), before).error == 0);
  cuda_backend().measure(*each.variant, batch.heads, Form::chunkwise, Precision::f64, 16, {});
  CHECK(compare(run(), before).error == 0);
}

#if PALIMPSEST_HAS_CUDA
TEST_CASE("what is computed again and again comes out as if it were computed once", "[race]") {
  const auto cases = testing::usual_cases({.tokens = 33});
  testing::for_every_form(cases, Precision::f64, [](const testing::Case& each, Form form) {
    const SequenceBatch batch = batch_of(each);
    const auto run = [&] {
      return cuda_backend().run_heads(*each.variant, batch.heads, form, Precision::f64, 16);
    };
    const std::vector<Output> once = run();
    std::vector<Output> again;
    const RunTimes times = cuda::measure({.most = 3, .least = 3}, [&] { again = run(); });
    CHECK(times.compute.size() == 3);
    REQUIRE(again.size() == once.size());
    for (std::size_t head = 0; head < once.size(); ++head)
      CHECK(compare(again[head], once[head]).error <= 1e-12);
  });
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
