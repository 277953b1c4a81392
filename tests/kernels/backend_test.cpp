#include "kernels/cuda_backend.h"

#include "core/base/error.h"
#include "core/base/parallel_for.h"
#include "core/cases/random_case.h"
#include "core/proof/verify.h"
#include "tests/catch.h"
#include "tests/kernels/gpu.h"

#if PALIMPSEST_HAS_CUDA
#include <atomic>
#include <chrono>
#include <thread>

#include "kernels/cuda/check.h"
#endif

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

TEST_CASE("where no kernel can run there is a reason, and without CUDA there are no devices") {
  if (cuda_devices().empty()) CHECK_FALSE(cuda_unavailable().empty());
  if (cuda_unavailable().empty()) CHECK_FALSE(cuda_driver_version().empty());
  CHECK(cuda_runtime_version().empty() == !PALIMPSEST_HAS_CUDA);
  if (!PALIMPSEST_HAS_CUDA) CHECK_THAT(cuda_unavailable(), testing::says("built without CUDA"));
}

TEST_CASE("every device has a name, memory and a compute capability") {
  if (!testing::has_gpu()) return;
  for (const Device& device : cuda_devices()) {
    INFO(device.name);
    CHECK_FALSE(device.name.empty());
    CHECK(device.major >= 5);
    CHECK(device.multiprocessors > 0);
    CHECK(device.memory > (std::size_t{1} << 28));
  }
}

#if PALIMPSEST_HAS_CUDA

TEST_CASE("a call that failed leaves no error behind for the next one") {
  if (!testing::has_gpu()) return;  // without a driver every call fails, that for the last error too
  CHECK_THROWS_AS(CHECK_CUDA(cudaSetDevice(-1)), Error);
  CHECK(cudaGetLastError() == cudaSuccess);
}

namespace {

/// Keeps the stream that it stands in until somebody opens it; gives up after a while, so that a test that
/// fails ends.
struct Gate {
  std::atomic<bool> open = false;
  std::atomic<bool> seen_open = false;

  static void wait(void* gate) {
    auto& self = *static_cast<Gate*>(gate);
    for (int i = 0; i < 2000 && !self.open; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    self.seen_open = self.open.load();
  }
};

}  // namespace

TEST_CASE("a run does not wait for what another thread asked of the device", "[kernels]") {
  if (!testing::has_gpu()) return;
  const Variant& variant = find_variant("gated_deltanet");
  const Settings settings = random_settings(variant, {}, 1);
  const RandomCase random = fitted(variant, settings, {.tokens = 33});
  const SequenceBatch batch =
      bind(variant, std::make_shared<const Arrays>(random_arrays(variant, settings, random)), settings);
  Gate gate;
  std::jthread other([&] {
    CHECK_CUDA(cudaLaunchHostFunc(nullptr, Gate::wait, &gate));
    CHECK_CUDA(cudaStreamSynchronize(nullptr));
  });
  cuda_backend().run(variant, batch.heads.front(), Form::chunkwise, Precision::f32, 16);
  gate.open = true;
  other.join();
  CHECK(gate.seen_open);
}

#endif
