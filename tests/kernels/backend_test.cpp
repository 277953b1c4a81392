#include "kernels/cuda_backend.h"

#include "core/base/error.h"
#include "core/base/parallel_for.h"
#include "core/cases/random_case.h"
#include "core/proof/verify.h"
#include "kernels/device.h"
#include "tests/catch.h"
#include "tests/kernels/gpu.h"

using namespace palimpsest;

namespace {

Settings standard_settings(const Variant& variant) { return random_settings(variant, {}, 1); }

/// What run() throws as Unsupported; empty if it runs.
std::string refusal(const Variant& variant, Form form, Precision precision) {
  const Settings settings = standard_settings(variant);
  const auto arrays = std::make_shared<const Arrays>(random_arrays(variant, settings, {}));
  try {
    cuda_backend().run(variant, bind(variant, arrays, settings).heads.front(), form, precision, 16);
  } catch (const Unsupported& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the CUDA backend says why it cannot run, and run() gives the same reason") {
  CHECK(cuda_backend().name() == "cuda");
  for (const Variant& variant : variants()) {
    for (const Form form : all_forms) {
      for (const Precision precision : all_precisions) {
        INFO(variant.id << ' ' << name(form) << ' ' << name(precision));
        const auto reason = cuda_backend().missing(variant, standard_settings(variant), form, precision);
        CHECK(refusal(variant, form, precision) == reason.value_or(""));
        if (!cuda_unavailable().empty()) CHECK(reason.has_value());
      }
    }
  }
}

TEST_CASE("without a usable device that is the reason") {
  if (cuda_unavailable().empty()) return;
  const Variant& variant = find_variant("gated_deltanet");
  CHECK(cuda_backend().missing(variant, resolve(variant, {}), Form::recurrent, Precision::f32) ==
        cuda_unavailable());
}

TEST_CASE("everything that the CUDA backend offers agrees with the recurrence in f64 on the CPU") {
  if (!testing::has_gpu()) return;
  VerifyPlan plan;
  plan.backends = {&cuda_backend()};
  plan.lengths = {0, 1, 17, 65};
  plan.chunk_sizes = {16};
  plan.sizes = {{12, 7}};
  plan.log_gates = {false};
  plan.batch_sizes = {6};
  plan.keeps = false;
  plan.jobs = processor_threads();
  const VerifyReport report = verify(plan);
  CHECK_FALSE(report.results.empty());
  for (const VerifyResult& result : report.results) {
    INFO(result.variant << ' ' << result.options << ' ' << name(result.form) << ' ' << name(result.precision)
                        << ": " << result.worst.error << ' ' << result.worst.array << ' ' << result.message
                        << ' ' << result.reproduction);
    CHECK(result.passed());
    if (result.precision == Precision::f64 && result.exception.empty()) CHECK(result.worst.error < 1e-12);
  }
}

TEST_CASE("a state of more rows than the fast kernel holds is computed by the plain one") {
  if (!testing::has_gpu()) return;
  const Variant& variant = find_variant("linear");
  const Settings settings = standard_settings(variant);
  const auto arrays =
      std::make_shared<const Arrays>(random_arrays(variant, settings, {.tokens = 3, .dk = 897, .dv = 2}));
  const Sequence sequence = bind(variant, arrays, settings).heads.front();
  const Output got = cuda_backend().run(variant, sequence, Form::recurrent, Precision::f64, 16);
  CHECK(compare(got, cpu_backend().run(variant, sequence, Form::recurrent, Precision::f64, 16)).error <
        1e-12);
}

TEST_CASE("more channels with decays of their own than a chunk has room for are refused by number") {
  if (!testing::has_gpu()) return;
  const Variant& variant = find_variant("gla");
  const Settings settings = standard_settings(variant);
  const auto arrays =
      std::make_shared<const Arrays>(random_arrays(variant, settings, {.tokens = 3, .dk = 20000, .dv = 2}));
  const Sequence sequence = bind(variant, arrays, settings).heads.front();
  for (const Precision precision : scalar_precisions) {
    const auto run = [&](Form form) { return cuda_backend().run(variant, sequence, form, precision, 16); };
    CHECK_THROWS_AS(run(Form::chunkwise), Unsupported);
    CHECK_THROWS_WITH(run(Form::two_pass), testing::says("decays of 20000 key channels in chunks"));
    CHECK(run(Form::recurrent).o.allFinite());
  }
}

TEST_CASE("a long sequence is on the device what it is on the processor") {
  if (!testing::has_gpu()) return;
  const Variant& variant = find_variant("gated_deltanet");
  const Settings settings = standard_settings(variant);
  const auto arrays = std::make_shared<const Arrays>(
      random_arrays(variant, settings, {.tokens = 16384 + 17, .dk = 8, .dv = 5, .initial_state = true}));
  const Sequence sequence = bind(variant, arrays, settings).heads.front();
  const Output got = cuda_backend().run(variant, sequence, Form::recurrent, Precision::f64, 16);
  const Output expected = cpu_backend().run(variant, sequence, Form::recurrent, Precision::f64, 16);
  CHECK(compare(got, expected).error < 1e-12);
}

TEST_CASE("the CUDA backend stops when asked") {
  if (!testing::has_gpu()) return;
  const Variant& variant = find_variant("linear");
  const Settings settings = standard_settings(variant);
  const auto arrays = std::make_shared<const Arrays>(random_arrays(variant, settings, {}));
  std::stop_source source;
  source.request_stop();
  CHECK_THROWS_AS(cuda_backend().run(variant, bind(variant, arrays, settings).heads.front(), Form::recurrent,
                                     Precision::f32, 16, source.get_token()),
                  Cancelled);
}
