// Which rules the kernels for tensor cores know.

#include "core/race/taken_kernel.h"

#include "tests/catch.h"

using namespace palimpsest;

namespace {

RaceEntry entry(const std::string& variant, Form form, Precision precision, Index channels = 128) {
  return {.variant = variant,
          .form = form,
          .device = "cuda",
          .precision = precision,
          .tokens = 512,
          .heads = 16,
          .dk = channels,
          .dv = channels,
          .chunk_size = has_chunks(form) ? 64 : 0};
}

}  // namespace

TEST_CASE("a rule with kernels for tensor cores has them in whatever precision it was measured", "[race]") {
  // docs/kernels.md, "What runs where".
  for (const Precision precision : {Precision::f32, Precision::tf32, Precision::bf16}) {
    for (const char* const known : {"gated_deltanet", "kda", "softmax"})
      CHECK(has_tensor_cores(entry(known, Form::chunkwise, precision)));
    for (const char* const other : {"rwkv7", "deltaproduct", "titans", "fox", "mamba", "ttt_linear"})
      CHECK_FALSE(has_tensor_cores(entry(other, Form::chunkwise, precision)));
    CHECK_FALSE(has_tensor_cores(entry("gated_deltanet", Form::recurrent, precision)));
    CHECK_FALSE(has_tensor_cores(entry("gated_deltanet", Form::two_pass, precision)));
    // Sizes that do not fit.
    CHECK_FALSE(has_tensor_cores(entry("gated_deltanet", Form::chunkwise, precision, 256)));
    CHECK_FALSE(has_tensor_cores(entry("softmax", Form::chunkwise, precision, 256)));
    // What another program calls its own is not known.
    CHECK_FALSE(has_tensor_cores(entry("of another program", Form::chunkwise, precision)));
  }
}
