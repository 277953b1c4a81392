#include "app/session/data_case.h"

#include <algorithm>

#include "app/session/inputs.h"
#include "app/session/presets.h"

namespace palimpsest {

VerifyCase data_case(const Variant& variant, std::shared_ptr<const DataSet> data, const Settings& given,
                     Index chunk_size) {
  const Inputs inputs = make_inputs(*data, 0, variant, given, {});
  VerifyCase made{.variant = &variant,
                  .given = resolve(variant, inputs.settings),
                  .chunk_sizes = {chunk_size},
                  .data = data->id};
  made.arrays = [&variant, data = std::move(data), given] {
    return make_inputs(*data, 0, variant, given, {}).arrays;
  };
  return made;
}

DataSet data_of_case(const VerifyCase& verified) {
  DataSet data;
  data.id = data_of(verified);
  data.title = data.id;
  data.rule = verified.variant->id;
  data.arrays = verified.arrays ? *verified.arrays()
                                : random_arrays(*verified.variant, verified.given, verified.random);
  // What the rule makes itself still has to be there for a sequence; it is not taken.
  for (const std::string& made : verified.variant->makes) {
    const auto like = std::ranges::find_if(
        data.arrays, [](const auto& each) { return each.first == "q" || each.first == "v"; });
    if (like == data.arrays.end() || data.arrays.contains(made)) continue;
    Array nothing(like->second.shape,
                  std::vector<double>(static_cast<std::size_t>(like->second.size()), 0.0));
    data.arrays[made] = std::move(nothing);
  }
  data.source = "a case of palimpsest verify";
  measure(data);
  return data;
}

std::vector<VerifyCase> preset_cases(std::span<const Variant> variants) {
  constexpr Index chunk_size = 64;
  std::vector<VerifyCase> cases;
  const auto add = [&](const Preset& preset, Index tokens) {
    const auto data = std::make_shared<const DataSet>(make_preset(preset_id(preset, {.tokens = tokens})));
    for (const Variant& variant : variants) cases.push_back(data_case(variant, data, {}, chunk_size));
  };
  for (const Preset& preset : presets()) {
    for (const Index tokens : {257, 1100}) add(preset, tokens);
  }
  add(presets().front(), 4096);
  return cases;
}

}  // namespace palimpsest
