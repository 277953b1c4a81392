#include "core/base/error.h"
#include "core/base/parallel_for.h"
#include "core/proof/verify.h"
#include "tests/kernels/gpu.h"

#if PALIMPSEST_HAS_CUDA
#include <chrono>
#include <future>
#include <thread>

#include "kernels/cuda/check.h"
#include "kernels/cuda/measure.h"
#endif

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// What run() throws as Unsupported; empty if it runs.
std::string refusal(const Case& each, Form form, Precision precision) {
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
  for (const Case& each : usual_cases({})) {
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
  if (!has_gpu()) return;
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
  if (!has_gpu()) return;
  for (const Case& each :
       {random_case("linear", {.tokens = 3, .dk = 897, .dv = 2}),
        random_case("gated_deltanet", {.tokens = 16384 + 17, .dk = 8, .dv = 5, .initial_state = true})}) {
    const Output got = cuda_backend().run(*each.variant, each.sequence, Form::recurrent, Precision::f64, 16);
    CHECK(compare(got, each.run(Form::recurrent)).error < 1e-12);
  }
}

TEST_CASE("more channels with decays of their own than a chunk has room for are refused by number") {
  if (!has_gpu()) return;
  const Case wide = random_case("gla", {.tokens = 3, .dk = 20000, .dv = 2});
  for (const Precision precision : scalar_precisions) {
    const auto run = [&](Form form) {
      return cuda_backend().run(*wide.variant, wide.sequence, form, precision, 16);
    };
    CHECK_THROWS_AS(run(Form::chunkwise), Unsupported);
    CHECK_THROWS_WITH(run(Form::two_pass), says("decays of 20000 key channels in chunks"));
    CHECK(run(Form::recurrent).o.allFinite());
  }
}

TEST_CASE("where no kernel can run there is a reason, and without CUDA there are no devices") {
  if (cuda_devices().empty()) CHECK_FALSE(cuda_unavailable().empty());
  if (cuda_unavailable().empty()) CHECK_FALSE(cuda_driver_version().empty());
  CHECK(cuda_runtime_version().empty() == !PALIMPSEST_HAS_CUDA);
  if (!PALIMPSEST_HAS_CUDA) CHECK_THAT(cuda_unavailable(), says("built without CUDA"));
}

TEST_CASE("every device has a name, memory and a compute capability") {
  if (!has_gpu()) return;
  for (const Device& device : cuda_devices()) {
    INFO(device.name);
    CHECK_FALSE(device.name.empty());
    CHECK(device.major >= 5);
    CHECK(device.multiprocessors > 0);
    CHECK(device.memory > (std::size_t{1} << 28));
  }
}

// What a run on the device takes, in parts, and what the device does at most.

namespace {

/// Two batches of three heads like this one.
SequenceBatch batch_of(const Case& each) {
  return bind(*each.variant,
              std::make_shared<const Arrays>(
                  repeated_heads(*each.variant, each.settings, *each.arrays, 2, 3, Precision::f64)),
              each.settings);
}

Case gated_deltanet(Index tokens) { return random_case("gated_deltanet", {.tokens = tokens}); }

}  // namespace

TEST_CASE("what cannot run on the device is not measured there, for the same reason", "[race]") {
  if (cuda_unavailable().empty()) return;
  const Case each = gated_deltanet(9);
  CHECK_THROWS_WITH(
      cuda_backend().measure(*each.variant, {&each.sequence, 1}, Form::recurrent, Precision::f32, 16, {}),
      says(*cuda_backend().missing(*each.variant, each.settings, Form::recurrent, Precision::f32)));
  CHECK_FALSE(cuda_backend().roof(Precision::f32));
}

TEST_CASE("every run on the device has kernels, transfers and memory, each with a time", "[race]") {
  const auto cases = usual_cases({.tokens = 257});  // longer than a launch takes
  for (const Precision precision : all_precisions) {
    for_every_form(cases, precision, [&](const Case& each, Form form) {
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
  if (!has_gpu()) return;
  const Case each = gated_deltanet(65);
  const SequenceBatch batch = batch_of(each);
  const auto run = [&] {
    return cuda_backend().run(*each.variant, each.sequence, Form::chunkwise, Precision::f64, 16);
  };
  const Output before = run();
  CHECK_THROWS_AS(
      cuda_backend().measure(*each.variant, batch.heads, Form::chunkwise, Precision::f64, 16, {}, stopped()),
      Cancelled);
  CHECK(compare(run(), before).error == 0);
  cuda_backend().measure(*each.variant, batch.heads, Form::chunkwise, Precision::f64, 16, {});
  CHECK(compare(run(), before).error == 0);
}

TEST_CASE("the device says what it does at most", "[race]") {
  if (!has_gpu()) return;
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

#if PALIMPSEST_HAS_CUDA

TEST_CASE("a call that failed leaves no error behind for the next one") {
  if (!has_gpu()) return;  // without a driver every call fails, that for the last error too
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
  if (!has_gpu()) return;
  const Case each = random_case("gated_deltanet", {.tokens = 33});
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

TEST_CASE("what is computed again and again comes out as if it were computed once", "[race]") {
  const auto cases = usual_cases({.tokens = 33});
  for_every_form(cases, Precision::f64, [](const Case& each, Form form) {
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
