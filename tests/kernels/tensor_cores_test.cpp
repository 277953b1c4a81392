// What tensor cores make of programs in bf16 is what the recurrence makes of the same rounded rows in f64:
// every kind of decay and erase, in sizes that fill no tile, where keys are alike and where gates close.

#include "tests/catch.h"

#if PALIMPSEST_HAS_CUDA

#include "kernels/cuda/hopper/tensor_rows.h"
#include "kernels/cuda/row_engines.h"
#include "kernels/cuda/softmax_engines.h"
#include "tests/kernels/gpu.h"
#include "tests/kernels/tensor_core_runs.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

// Worst of many draws 6e-3 and, of states, 8e-3; a bf16 is rounded by up to 2^-8 = 4e-3 of itself.
constexpr double allowed_bf16 = 1.5e-2;

bool has_tensor_cores() {
  if (!has_gpu()) return false;
  if (cuda::has_hopper()) return true;
  std::cout << "SKIP: the tensor-core kernels are written for compute capability 9.0\n";
  return false;
}

}  // namespace

TEST_CASE("chunks on tensor cores give what the recurrence gives") {
  if (has_tensor_cores()) compare_sizes(cuda::Rounding::bf16, allowed_bf16);
}

TEST_CASE("gates of channels that close within a few tokens keep chunks finite") {
  if (has_tensor_cores()) compare_closing_gates(cuda::Rounding::bf16, allowed_bf16);
}

TEST_CASE("softmax on tensor cores gives what it gives in f64") {
  if (!has_tensor_cores()) return;
  const AttentionSize sizes[] = {{1, 0, 128, 128},    {65, 0, 17, 33}, {300, 0, 128, 128},
                                 {129, 271, 64, 128}, {1, 500, 1, 1},  {700, 1, 128, 100}};
  for (const AttentionSize& size : sizes) compare_softmax(size, cuda::Rounding::bf16, 1e-2);
}

TEST_CASE("a run that goes to a fused kernel says so, and no other") {
  if (!has_gpu()) return;
  const auto rows = [](Form form, const Structure& structure, Index K, cuda::Rounding rounding) {
    return cuda::fused_rows<float>(form, structure, K, rounding);
  };
  const Structure gated = {.decay = Decay::scalar, .erase = Erase::decayed, .beta = true};
  const Structure by_channel = {.decay = Decay::key, .erase = Erase::decayed, .beta = true};
  for (const cuda::Rounding rounding : {cuda::Rounding::none, cuda::Rounding::bf16}) {
    CHECK(rows(Form::recurrent, gated, 128, rounding) == "one kernel that holds the memory in registers");
    CHECK(rows(Form::recurrent, gated, 897, rounding).empty());
    CHECK(rows(Form::recurrent, by_channel, 128, rounding).empty());
    CHECK(rows(Form::two_pass, gated, 128, rounding).empty());
    CHECK(rows(Form::parallel, gated, 128, rounding).empty());
  }
  CHECK(rows(Form::chunkwise, gated, 128, cuda::Rounding::none).empty());
  CHECK(rows(Form::chunkwise, gated, 129, cuda::Rounding::bf16).empty());
  CHECK(cuda::fused_rows<double>(Form::chunkwise, gated, 128, cuda::Rounding::bf16).empty());
  const auto softmax = [](Form form, Index K, Index V, bool fades) {
    return cuda::fused_softmax<float>(form, K, V, fades, cuda::Rounding::bf16);
  };
  CHECK(softmax(Form::recurrent, 128, 128, false).empty());
  CHECK(softmax(Form::chunkwise, 128, 129, false).empty());
  CHECK(softmax(Form::chunkwise, 128, 128, true).empty());
  const bool can = cuda::has_hopper();
  CHECK(rows(Form::chunkwise, gated, 128, cuda::Rounding::bf16).empty() != can);
  CHECK(rows(Form::chunkwise, by_channel, 128, cuda::Rounding::bf16).empty() != can);
  CHECK(softmax(Form::chunkwise, 128, 128, false).empty() != can);
}

#endif
