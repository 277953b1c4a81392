// With what a GPU measured the points of a report.

#include "core/race/lines.h"

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

/// A report whose roof in bf16 was measured with this instruction.
RaceReport with_roof(const std::string& instruction) {
  RaceReport report;
  report.roofs = {{"cuda",
                   Precision::bf16,
                   {.bytes_per_second = 4e12,
                    .flops_per_second = 9e14,
                    .copy = "a copy",
                    .product = "a kernel of " + instruction + " on tensor cores"}}};
  return report;
}

}  // namespace

TEST_CASE("the kernel of a point follows from its rule, form and precision", "[race]") {
  const RaceReport hopper = with_roof("wgmma, one factor in registers,");
  const auto kernel = [&](const RaceEntry& of) { return taken_kernel(of, hopper); };
  // docs/kernels.md, "What runs where".
  CHECK(kernel(entry("gated_deltanet", Form::chunkwise, Precision::bf16)) == KernelKind::tensor_cores);
  CHECK(kernel(entry("kda", Form::chunkwise, Precision::bf16)) == KernelKind::tensor_cores);
  CHECK(kernel(entry("softmax", Form::chunkwise, Precision::bf16)) == KernelKind::tensor_cores);
  CHECK(kernel(entry("gated_deltanet", Form::chunkwise, Precision::tf32)) == KernelKind::tensor_cores);
  CHECK(kernel(entry("gated_deltanet", Form::chunkwise, Precision::f32)) == KernelKind::plain);
  CHECK(kernel(entry("softmax", Form::chunkwise, Precision::f32)) == KernelKind::plain);
  CHECK(kernel(entry("gated_deltanet", Form::two_pass, Precision::bf16)) == KernelKind::plain);
  CHECK(kernel(entry("gated_deltanet", Form::recurrent, Precision::f32)) == KernelKind::registers);
  CHECK(kernel(entry("gated_deltanet", Form::recurrent, Precision::bf16)) == KernelKind::registers);
  CHECK(kernel(entry("kda", Form::recurrent, Precision::f32)) ==
        KernelKind::plain);  // decays of key channels
  for (const char* const other : {"rwkv7", "deltaproduct", "titans", "fox", "mamba", "ttt_linear"})
    CHECK(kernel(entry(other, Form::chunkwise, Precision::bf16)) == KernelKind::plain);
  // Sizes that do not fit.
  CHECK(kernel(entry("gated_deltanet", Form::chunkwise, Precision::bf16, 256)) == KernelKind::plain);
  CHECK(kernel(entry("softmax", Form::chunkwise, Precision::bf16, 256)) == KernelKind::plain);
  CHECK(kernel(entry("gated_deltanet", Form::recurrent, Precision::f32, 1024)) == KernelKind::plain);
}

TEST_CASE("where a report does not say what a GPU has, nothing is said of kernels that need it", "[race]") {
  const RaceEntry chain = entry("gated_deltanet", Form::chunkwise, Precision::bf16);
  CHECK(taken_kernel(chain, with_roof("mma.sync in registers")) == KernelKind::plain);
  CHECK_FALSE(taken_kernel(chain, {}));
  CHECK(taken_kernel(entry("rwkv7", Form::chunkwise, Precision::bf16), {}) == KernelKind::plain);
  // A processor has none, and what another program calls its own is not known.
  RaceEntry other = chain;
  other.device = "cpu";
  CHECK_FALSE(taken_kernel(other, {}));
  other = chain;
  other.variant = "of another program";
  CHECK_FALSE(taken_kernel(other, {}));
  CHECK_FALSE(has_tensor_cores(other));
}

TEST_CASE("a rule with kernels for tensor cores has them in whatever precision it was measured", "[race]") {
  CHECK(has_tensor_cores(entry("gated_deltanet", Form::chunkwise, Precision::f32)));
  CHECK(has_tensor_cores(entry("softmax", Form::chunkwise, Precision::f32)));
  CHECK_FALSE(has_tensor_cores(entry("gated_deltanet", Form::recurrent, Precision::f32)));
  CHECK_FALSE(has_tensor_cores(entry("fox", Form::chunkwise, Precision::f32)));
  CHECK_FALSE(has_tensor_cores(entry("rwkv7", Form::chunkwise, Precision::f32)));
}
