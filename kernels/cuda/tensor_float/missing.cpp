#include "kernels/cuda/tensor_float/missing.h"

#include <algorithm>
#include <string_view>

#include "core/engines/fast_kernels.h"
#include "core/rules/row_rule.h"

namespace palimpsest::cuda {

namespace {

bool hands_on(const Variant& variant, std::string_view state) {
  return std::ranges::find(variant.states, state, &State::name) != variant.states.end();
}

/// Whether the kernels know the rows of this rule; asked in every frame.
bool has_kernels(const Variant& variant, const Settings& settings) {
  const RowRule* const rows = variant.rule->row_program();
  return rows && fit_tensor_cores(rows->structure(settings), 1);
}

}  // namespace

std::optional<std::string> missing_in_tf32(const Variant& variant, const Settings& settings, Form form) {
  if (form != Form::chunkwise) return "tf32 is for products on tensor cores; this form has no kernel of them";
  const bool is_softmax = hands_on(variant, "k_cache");  // whose keys fade where their gates are handed on
  if (is_softmax ? !hands_on(variant, "g_cache") : has_kernels(variant, settings)) return std::nullopt;
  return "tf32 is for products on tensor cores; the kernels of them do not know what this rule computes";
}

}  // namespace palimpsest::cuda
