#include "kernels/cuda/tensor_float/missing.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "core/rules/structure_of.h"
#include "kernels/cuda/hopper/tensor_rows.h"

namespace palimpsest::cuda {

namespace {

bool hands_on(const Variant& variant, std::string_view state) {
  return std::ranges::find(variant.states, state, &State::name) != variant.states.end();
}

/// Whether the kernels know the rows of this rule; asked in every frame.
bool has_kernels(const Variant& variant, const Settings& settings) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, decltype(settings.options)>, bool> known;
  const std::scoped_lock lock(mutex);
  const auto [place, is_new] = known.try_emplace({variant.id, settings.options}, false);
  if (!is_new) return place->second;
  const auto structure = structure_of(variant, settings);
  return place->second = structure && fit_tensor_cores(*structure, 1);
}

}  // namespace

std::optional<std::string> missing_in_tf32(const Variant& variant, const Settings& settings, Form form) {
  if (form != Form::chunkwise) return "tf32 is for products on tensor cores; this form has no kernel of them";
  const bool is_softmax = hands_on(variant, "k_cache");  // whose keys fade where their gates are handed on
  if (is_softmax ? !hands_on(variant, "g_cache") : has_kernels(variant, settings)) return std::nullopt;
  return "tf32 is for products on tensor cores; the kernels of them do not know what this rule computes";
}

}  // namespace palimpsest::cuda
