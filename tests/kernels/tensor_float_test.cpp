// What tensor cores make of programs in tf32 is what the recurrence makes of the same f32 rows in f64: every
// kind of decay and erase, in sizes that fill no tile, where keys are alike and where gates close.

#include "tests/catch.h"

#if PALIMPSEST_HAS_CUDA

#include <set>

#include "core/base/error.h"
#include "core/contract/variant.h"
#include "core/variants/variants.h"
#include "kernels/cuda/tensor_rows.h"
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
  const auto rows_engine = cuda::make_engine<Program, float>(cuda::Rounding::tf32);
  const auto softmax_engine = cuda::make_engine<CachedQueries, float>(cuda::Rounding::tf32);
  const EngineRequest chunks = {.form = Form::chunkwise, .chunk_size = 16};
  const Program<float> wide = random_program({.tokens = 3, .dk = 129, .dv = 4}, 1);
  std::vector<Carried<float>> S = {{Matrix<float>::Zero(129, 4)}};
  CHECK_THROWS_AS(rows_engine->run(chunks, {&wide, 1}, S), Unsupported);
  const Program<float> rows = random_program({.tokens = 3, .dk = 4, .dv = 4}, 1);
  S = {{Matrix<float>::Zero(4, 4)}};
  CHECK_THROWS_AS(rows_engine->run({.form = Form::recurrent}, {&rows, 1}, S), Unsupported);
  CHECK(rows_engine->kernel(chunks, rows) == KernelKind::tensor_cores);
  CHECK(rows_engine->kernel(chunks, wide) == KernelKind::plain);
  CachedQueries<float> queries = {.K = Matrix<float>(0, 128), .V = Matrix<float>(0, 128)};
  CHECK(softmax_engine->kernel(chunks, queries) == KernelKind::tensor_cores);
  queries.fades = true;
  CHECK(softmax_engine->kernel(chunks, queries) == KernelKind::plain);
}

#endif
