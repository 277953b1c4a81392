// What tensor cores make of programs in tf32 is what the recurrence makes of the same f32 rows in f64: every
// kind of decay and erase, in sizes that fill no tile, where keys are alike and where gates close.

#include "tests/catch.h"

#if PALIMPSEST_HAS_CUDA

#include <set>

#include "core/base/error.h"
#include "core/contract/variant.h"
#include "core/variants/variants.h"
#include "kernels/cuda/row_engines.h"
#include "kernels/cuda/softmax_engines.h"
#include "kernels/cuda/tensor_float/missing.h"
#include "kernels/cuda/tensor_float/tensor_float_rows.h"
#include "tests/kernels/gpu.h"
#include "tests/kernels/tensor_core_runs.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

// What the precision promises: ten roundings of a factor, 2^-11 of itself each. Worst of the kernels carried
// out on a processor, lane by lane: 3e-3.
constexpr double allowed_tf32 = 5e-3;

bool can_multiply_tf32() {
  if (!has_gpu()) return false;
  if (cuda::has_tensor_float()) return true;
  std::cout << "SKIP: tf32 needs tensor cores of compute capability 8.0\n";
  return false;
}

}  // namespace

TEST_CASE("chunks in tf32 give what the recurrence gives") {
  if (can_multiply_tf32()) compare_sizes(cuda::Rounding::tf32, allowed_tf32);
}

TEST_CASE("gates of channels that close within a few tokens keep chunks in tf32 finite") {
  if (can_multiply_tf32()) compare_closing_gates(cuda::Rounding::tf32, allowed_tf32);
}

TEST_CASE("softmax in tf32 gives what it gives in f64") {
  if (!can_multiply_tf32()) return;
  // Two roundings of a factor, 2^-11 each, times |q| |k| = 16 in an exponent of which channels take part.
  const AttentionSize sizes[] = {{1, 0, 128, 128},    {65, 0, 17, 33}, {300, 0, 128, 128},
                                 {129, 271, 64, 128}, {64, 0, 64, 64}, {700, 1, 128, 100}};
  for (const AttentionSize& size : sizes) compare_softmax(size, cuda::Rounding::tf32, allowed_tf32);
}

TEST_CASE("tf32 is offered where its kernels are, and the rest says why it is not") {
  std::set<std::string> offered;
  for (const Variant& variant : variants()) {
    const Settings settings = resolve(variant, {});
    for (const Form form : all_forms) {
      const auto reason = cuda::missing_in_tf32(variant, settings, form);
      if (form == Form::chunkwise && !reason) offered.insert(variant.id);
      if (form != Form::chunkwise) CHECK(reason.value() == cuda::missing_in_tf32(variant, {}, form).value());
    }
  }
  CHECK(offered == std::set<std::string>{"softmax", "linear", "kernel", "retnet", "lightning", "scalar_decay",
                                         "gla", "hgrn2", "longhorn", "double_softmax", "deltanet",
                                         "gated_deltanet", "kda"});
  const Variant& linear = find_variant("linear");
  Settings settings;
  settings.options["causal"] = "false";  // reads at the end
  CHECK(cuda::missing_in_tf32(linear, resolve(linear, settings), Form::chunkwise).has_value());
}

TEST_CASE("tf32 is computed by its kernels or not at all") {
  if (!can_multiply_tf32()) return;
  const Program<float> wide = random_program({.tokens = 3, .dk = 129, .dv = 4}, 1);
  std::vector<Matrix<float>> S = {Matrix<float>::Zero(129, 4)};
  CHECK_THROWS_AS(cuda::run_rows<float>(Form::chunkwise, {&wide, 1}, 16, S, {}, cuda::Rounding::tf32),
                  Unsupported);
  const Program<float> rows = random_program({.tokens = 3, .dk = 4, .dv = 4}, 1);
  S = {Matrix<float>::Zero(4, 4)};
  CHECK_THROWS_AS(cuda::run_rows<float>(Form::recurrent, {&rows, 1}, 16, S, {}, cuda::Rounding::tf32),
                  Unsupported);
  CHECK(cuda::fused_rows<float>(Form::chunkwise, rows.structure, 128, cuda::Rounding::tf32) ==
        "kernels on tensor cores in tf32");
  CHECK(cuda::fused_rows<float>(Form::chunkwise, rows.structure, 129, cuda::Rounding::tf32).empty());
  CHECK(cuda::fused_softmax<float>(Form::chunkwise, 128, 128, false, cuda::Rounding::tf32) ==
        "one fused kernel on tensor cores in tf32");
  CHECK(cuda::fused_softmax<float>(Form::chunkwise, 128, 128, true, cuda::Rounding::tf32).empty());
}

#endif
