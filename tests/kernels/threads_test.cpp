// Runs of several threads on one device.

#include "kernels/device.h"

#if PALIMPSEST_HAS_CUDA

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "core/cases/random_case.h"
#include "core/variants/variants.h"
#include "kernels/cuda/check.h"
#include "kernels/cuda_backend.h"
#include "tests/catch.h"
#include "tests/kernels/gpu.h"

using namespace palimpsest;

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
