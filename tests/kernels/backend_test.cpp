#include "core/base/error.h"
#include "core/base/parallel_for.h"
#include "core/proof/verify.h"
#include "tests/kernels/gpu.h"

#if PALIMPSEST_HAS_CUDA
#include <chrono>
#include <future>
#include <thread>

#include "kernels/cuda/check.h"
#endif

using namespace palimpsest;
using testing::random_case;

namespace {

/// What run() throws as Unsupported; empty if it runs.
std::string refusal(const testing::Case& each, Form form, Precision precision) {
  try {
    cuda_backend().run(*each.variant, each.sequence, form, precision, 16);
  } catch (const Unsupported& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the CUDA backend says why it cannot run, and run() gives the same reason") {
  CHECK(cuda_backend().name() == "cuda");
  for (const testing::Case& each : testing::usual_cases({})) {
    for (const Form form : all_forms) {
      for (const Precision precision : all_precisions) {
        INFO(each.words << ' ' << name(form) << ' ' << name(precision));
        const auto reason = cuda_backend().missing(*each.variant, each.settings, form, precision);
        CHECK(refusal(each, form, precision) == reason.value_or(""));
        if (!cuda_unavailable().empty())
          CHECK(reason == each.variant->rule->missing(form, each.settings).value_or(cuda_unavailable()));
      }
    }
  }
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

TEST_CASE("more rows than the fast kernel holds, and a long sequence, are what they are on the processor") {
  if (!testing::has_gpu()) return;
  for (const testing::Case& each :
       {random_case(find_variant("linear"), {}, {.tokens = 3, .dk = 897, .dv = 2}),
        random_case(find_variant("gated_deltanet"), {},
                    {.tokens = 16384 + 17, .dk = 8, .dv = 5, .initial_state = true})}) {
    const Output got = cuda_backend().run(*each.variant, each.sequence, Form::recurrent, Precision::f64, 16);
    CHECK(compare(got, each.run(Form::recurrent)).error < 1e-12);
  }
}

TEST_CASE("more channels with decays of their own than a chunk has room for are refused by number") {
  if (!testing::has_gpu()) return;
  const testing::Case wide = random_case(find_variant("gla"), {}, {.tokens = 3, .dk = 20000, .dv = 2});
  for (const Precision precision : scalar_precisions) {
    const auto run = [&](Form form) {
      return cuda_backend().run(*wide.variant, wide.sequence, form, precision, 16);
    };
    CHECK_THROWS_AS(run(Form::chunkwise), Unsupported);
    CHECK_THROWS_WITH(run(Form::two_pass), testing::says("decays of 20000 key channels in chunks"));
    CHECK(run(Form::recurrent).o.allFinite());
  }
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
  std::promise<void> open;
  bool seen_open = false;

  static void wait(void* gate) {
    auto& self = *static_cast<Gate*>(gate);
    self.seen_open = self.open.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  }
};

}  // namespace

TEST_CASE("a run does not wait for what another thread asked of the device", "[kernels]") {
  if (!testing::has_gpu()) return;
  const testing::Case each = random_case(find_variant("gated_deltanet"), {}, {.tokens = 33});
  Gate gate;
  std::jthread other([&] {
    CHECK_CUDA(cudaLaunchHostFunc(nullptr, Gate::wait, &gate));
    CHECK_CUDA(cudaStreamSynchronize(nullptr));
  });
  cuda_backend().run(*each.variant, each.sequence, Form::chunkwise, Precision::f32, 16);
  gate.open.set_value();
  other.join();
  CHECK(gate.seen_open);
}

#endif
