// More heads than the tables of one form of them have room for.

#include "core/contract/output.h"
#include "kernels/cuda_backend.h"
#include "kernels/device.h"
#include "tests/catch.h"
#include "tests/core/cases.h"
#include "tests/kernels/gpu.h"

using namespace palimpsest;

TEST_CASE("heads whose tables do not fit into the device's memory together come in groups, each as alone") {
  if (!testing::has_gpu()) return;
  const Variant& variant = find_variant("gated_deltanet");
  RandomCase random = {.tokens = 4096, .dk = 3, .dv = 2, .initial_state = true};
  const double tables = 2 * sizeof(double) * 4096.0 * 4096.0;  // of scores and strengths, of one head
  const auto count =
      static_cast<std::size_t>(static_cast<double>(cuda_devices().front().memory) / tables) + 2;
  std::vector<Sequence> heads;
  for (std::size_t head = 0; head < count; ++head) {
    random.seed = head + 1;
    heads.push_back(testing::random_case(variant, {}, random).sequence);
    heads.back().settings = heads.front().settings;
  }
  const std::vector<Output> together =
      cuda_backend().run_heads(variant, heads, Form::parallel, Precision::f64, 64);
  REQUIRE(together.size() == count);
  for (const std::size_t head : {std::size_t{0}, count / 2, count - 1}) {
    INFO("head " << head << " of " << count);
    const Output alone = cpu_backend().run(variant, heads[head], Form::chunkwise, Precision::f64, 64);
    CHECK(compare(together[head], alone).error <= 1e-10);
  }
}
