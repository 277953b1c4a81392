// What a report of a GPU is taken to have been measured with is what runs on one.

#include "core/race/taken_kernel.h"

#include "core/cases/random_case.h"
#include "core/rules/fused_kernel.h"
#include "kernels/cuda_backend.h"
#include "tests/catch.h"
#include "tests/kernels/gpu.h"

using namespace palimpsest;

namespace {

/// By what the device says of a run.
KernelKind kind_of(const std::string& said) {
  if (said.find("tensor cores") != std::string::npos) return KernelKind::tensor_cores;
  return said.find("registers") != std::string::npos ? KernelKind::registers : KernelKind::plain;
}

}  // namespace

TEST_CASE("the kernel that follows from an entry is the one that the device takes") {
  if (!testing::has_gpu()) return;
  RaceReport report;
  report.roofs.push_back({"cuda", Precision::bf16, *cuda_backend().roof(Precision::bf16)});
  for (const Variant& variant : variants()) {
    for (const Index channels : {16, 128, 136}) {
      const Settings settings = random_settings(variant, {}, 1);
      const RandomCase small = {.tokens = 3, .dk = channels, .dv = channels};
      const auto arrays = std::make_shared<const Arrays>(random_arrays(variant, settings, small));
      const Sequence head = bind(variant, arrays, settings).heads.front();
      for (const Form form : all_forms) {
        for (const Precision precision : all_precisions) {
          INFO(variant.id << ' ' << name(form) << ' ' << name(precision) << ' ' << channels);
          if (cuda_backend().missing(variant, settings, form, precision)) continue;
          const RaceEntry entry = {.variant = variant.id,
                                   .form = form,
                                   .device = "cuda",
                                   .precision = precision,
                                   .tokens = 3,
                                   .dk = channels,
                                   .dv = channels,
                                   .chunk_size = has_chunks(form) ? 16 : 0};
          // In tf32 a run of rows that are too wide is refused, which only the run itself says.
          if (precision == Precision::tf32 && !has_tensor_cores(entry)) continue;
          CHECK(taken_kernel(entry, report) ==
                kind_of(fused_kernel(cuda_backend(), variant, head, form, precision)));
        }
      }
    }
  }
}
