// Which rules have kernels for tensor cores, without a GPU, is what one says.

#include "core/race/lines.h"

#include "core/cases/random_case.h"
#include "kernels/cuda_backend.h"
#include "kernels/device.h"
#include "tests/catch.h"
#include "tests/kernels/gpu.h"

using namespace palimpsest;

TEST_CASE("a rule that is said to have kernels for tensor cores goes to them, and no other") {
  if (!testing::has_gpu()) return;
  const bool is_hopper = cuda_devices().front().major == 9;
  for (const Variant& variant : variants()) {
    for (const Index channels : {16, 128, 136}) {
      const Settings settings = random_settings(variant, {}, 1);
      const RandomCase small = {.tokens = 3, .dk = channels, .dv = channels};
      const auto arrays = std::make_shared<const Arrays>(random_arrays(variant, settings, small));
      const Sequence head = bind(variant, arrays, settings).heads.front();
      for (const Form form : all_forms) {
        for (const Precision precision : {Precision::tf32, Precision::bf16}) {
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
          const KernelKind taken =
              variant.rule->kernel(head, form, held_in(precision), cuda_backend().engines(precision));
          const bool expected = has_tensor_cores(entry) && (precision == Precision::tf32 || is_hopper);
          CHECK((taken == KernelKind::tensor_cores) == expected);
        }
      }
    }
  }
}
