// What tensor cores make of programs in bf16 is what the recurrence makes of the same rounded rows in f64:
// every kind of decay and erase, in sizes that fill no tile, where keys are alike and where gates close.

#include "tests/catch.h"

#if PALIMPSEST_HAS_CUDA

#include "kernels/cuda/tensor_rows.h"
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

namespace {

template <class Scalar>
KernelKind kernel_of_rows(Form form, const Structure& structure, Index K, cuda::Rounding rounding) {
  return cuda::make_engine<Program, Scalar>(rounding)->kernel({.form = form},
                                                    {.structure = structure, .k = Matrix<Scalar>(0, K)});
}

KernelKind kernel_of_softmax(Form form, Index K, Index V, bool fades) {
  return cuda::make_engine<CachedQueries, float>(cuda::Rounding::bf16)
      ->kernel({.form = form}, {.K = Matrix<float>(0, K), .V = Matrix<float>(0, V), .fades = fades});
}

}  // namespace

TEST_CASE("a run that goes to a fused kernel says so, and no other") {
  if (!has_gpu()) return;
  const auto& rows = kernel_of_rows<float>;
  const auto& softmax = kernel_of_softmax;
  const Structure gated = {.decay = Decay::scalar, .erase = Erase::decayed, .beta = true};
  const Structure by_channel = {.decay = Decay::key, .erase = Erase::decayed, .beta = true};
  for (const cuda::Rounding rounding : {cuda::Rounding::none, cuda::Rounding::bf16}) {
    CHECK(rows(Form::recurrent, gated, 128, rounding) == KernelKind::registers);
    CHECK(rows(Form::recurrent, gated, 897, rounding) == KernelKind::plain);
    CHECK(rows(Form::recurrent, by_channel, 128, rounding) == KernelKind::plain);
    CHECK(rows(Form::two_pass, gated, 128, rounding) == KernelKind::plain);
    CHECK(rows(Form::parallel, gated, 128, rounding) == KernelKind::plain);
  }
  CHECK(rows(Form::chunkwise, gated, 128, cuda::Rounding::none) == KernelKind::plain);
  CHECK(rows(Form::chunkwise, gated, 129, cuda::Rounding::bf16) == KernelKind::plain);
  CHECK(kernel_of_rows<double>(Form::chunkwise, gated, 128, cuda::Rounding::bf16) == KernelKind::plain);
  CHECK(softmax(Form::recurrent, 128, 128, false) == KernelKind::plain);
  CHECK(softmax(Form::chunkwise, 128, 129, false) == KernelKind::plain);
  CHECK(softmax(Form::chunkwise, 128, 128, true) == KernelKind::plain);
  const KernelKind expected = cuda::has_hopper() ? KernelKind::tensor_cores : KernelKind::plain;
  CHECK(rows(Form::chunkwise, gated, 128, cuda::Rounding::bf16) == expected);
  CHECK(rows(Form::chunkwise, by_channel, 128, cuda::Rounding::bf16) == expected);
  CHECK(softmax(Form::chunkwise, 128, 128, false) == expected);
}

TEST_CASE("a run says what computed it, and a step is computed by plain kernels") {
  if (!has_gpu()) return;
  const Program<float> rows = random_program({.tokens = 20, .dk = 16, .dv = 16}, 1);
  const auto engine = cuda::make_engine<Program, float>(cuda::Rounding::bf16);
  std::vector<Carried<float>> S = {{Matrix<float>::Zero(16, 16)}};
  for (const Form form : all_forms) {
    EngineRequest request = {.form = form, .chunk_size = 16};
    CHECK(engine->run(request, {&rows, 1}, S).kernel == engine->kernel(request, rows));
    request.phase = 0;
    CHECK(engine->run(request, {&rows, 1}, S).kernel == KernelKind::plain);
  }
}

#endif
