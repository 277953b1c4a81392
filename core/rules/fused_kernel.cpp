#include "core/rules/fused_kernel.h"

#include <fmt/format.h>

namespace palimpsest {

std::string fused_kernel(const Backend& device, const Variant& variant, const Sequence& sequence, Form form,
                         Precision precision) {
  if (sequence.tokens == 0 || device.missing(variant, sequence.settings, form, precision)) return {};
  const std::string kernel =
      variant.rule->fused_kernel(sequence, form, held_in(precision), device.engines(precision));
  if (kernel.empty()) return {};
  return fmt::format(
      "A run of this form on {} takes {} and keeps no tensors: the steps shown are made by plain kernels "
      "from "
      "the same {}rows, and differ from the run by rounding.",
      device.name(), kernel, precision == Precision::bf16 ? "rounded " : "");
}

}  // namespace palimpsest
