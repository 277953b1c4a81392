#include "core/rules/fused_kernel.h"

#include <fmt/format.h>

#include "core/engines/engines.h"
#include "core/rules/row_rule.h"
#include "core/rules/softmax_rule.h"

namespace palimpsest {

namespace {

/// What a run takes, in the device's words.
template <class Scalar>
std::string taken(const Engines<Scalar>& engines, const Rule& rule, const Sequence& sequence, Form form) {
  if (const auto* rows = dynamic_cast<const RowRule*>(&rule); rows && engines.row_heads()) {
    const Program<Scalar> empty = rows->encoder().template encode<Scalar>(sequence, 0, 0);
    return engines.row_heads()->fused(form, empty.structure, empty.k.cols());
  }
  if (const auto fades = has_fading_keys(rule); fades && engines.softmax_heads())
    return engines.softmax_heads()->fused(form, sequence.dk, sequence.dv, *fades);
  return {};
}

}  // namespace

std::string fused_kernel(const Backend& device, const Variant& variant, const Sequence& sequence, Form form,
                         Precision precision) {
  if (sequence.tokens == 0 || device.missing(variant, sequence.settings, form, precision)) return {};
  const DeviceEngines& engines = device.engines(precision);
  const std::string kernel = precision == Precision::f64 ? taken(engines.f64, *variant.rule, sequence, form)
                                                         : taken(engines.f32, *variant.rule, sequence, form);
  if (kernel.empty()) return {};
  return fmt::format(
      "A run of this form on {} takes {} and keeps no tensors: the steps shown are made by plain kernels "
      "from "
      "the same {}rows, and differ from the run by rounding.",
      device.name(), kernel, precision == Precision::bf16 ? "rounded " : "");
}

}  // namespace palimpsest
