#include "app/commands/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace palimpsest {

namespace {

bool is_too_large(double value) { return std::isfinite(value) && !std::isfinite(static_cast<float>(value)); }

std::vector<Index> index_of(const std::vector<Index>& shape, Index flat) {
  std::vector<Index> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; flat /= shape[axis]) index[axis] = flat % shape[axis];
  return index;
}

/// Whether the result `name` may hold `value`: a log-sum over nothing is -inf.
bool may_hold(const Variant& variant, const std::string& name, double value) {
  if (std::isfinite(value)) return true;
  return std::ranges::any_of(variant.inputs, [&](const Input& input) {  // initial_log_z, final_log_z
    const std::string final = "final" + input.name.substr(std::min(input.name.find('_'), input.name.size()));
    return final == name && contains(input.range, value);
  });
}

/// Whether f32 makes 0 of it.
bool vanishes(double value) { return value != 0 && static_cast<float>(value) == 0; }

/// The first number in the order of tokens that should not be there; -1 if there is none.
Index first_not_finite(const Variant& variant, const std::string& name, const Array& array) {
  for (Index flat = 0; flat < array.size(); ++flat) {
    if (!may_hold(variant, name, array[flat])) return flat;
  }
  return -1;
}

/// Whether every final state is finite.
bool states_are_finite(const Variant& variant, const Arrays& results) {
  return std::ranges::all_of(results, [&](const auto& entry) {
    return entry.first == "o" || first_not_finite(variant, entry.first, entry.second) < 0;
  });
}

/// Why: a rule that divides by the sum of its weights may have none left; else numbers outgrew their type.
std::string reason(const Variant& variant, const Arrays& results, const std::string& array,
                   Precision precision) {
  const bool divides = std::ranges::find(variant.states, "z", &State::name) != variant.states.end();
  if (array == "o" && divides && states_are_finite(variant, results))
    return "the weights there add up to 0, and eps does not keep the division from it";
  return fmt::format("numbers grow beyond what {} holds", name(precision));
}

}  // namespace

void require_fits_f32(const Variant& variant, const Arrays& arrays, const SequenceBatch& batch) {
  for (const std::string& name : array_names(variant)) {
    const auto found = arrays.find(name);
    if (found == arrays.end() || found->second.is_f32()) continue;
    const Array& array = found->second;
    for (Index flat = 0; flat < array.size(); ++flat) {
      if (!is_too_large(array[flat])) continue;
      throw InputError(fmt::format("array \"{}\": index {} is {}, which f32 cannot hold", name,
                                   to_string(index_of(array.shape, flat)), array[flat]));
    }
  }
  for (const Sequence& head : batch.heads) {
    for (const auto& [name, value] : head.settings.parameters) {
      if (is_too_large(value) || vanishes(value))
        throw InputError(fmt::format("parameter {} is {}, which f32 cannot hold", name, value));
    }
    for (const Input& input : inputs_of(variant, head.settings)) {
      if (input.range != Range::positive_definite || !head.has(input.name)) continue;
      const Matrix<double> matrix = square(head.at(input.name));
      for (const double value : matrix.diagonal()) {
        if (vanishes(value))
          throw InputError(
              fmt::format("array \"{}\": {} on its diagonal, which is 0 in f32", input.name, value));
      }
    }
  }
}

std::vector<std::string> not_finite(const Variant& variant, const SequenceBatch& batch, const Arrays& results,
                                    Precision precision) {
  std::vector<std::string> lines;
  for (const auto& [name, array] : results) {
    const Index flat = first_not_finite(variant, name, array);
    if (flat < 0) continue;
    const std::vector<Index> index = index_of(array.shape, flat);
    const bool has_tokens = name == "o";
    const auto batch_axes = static_cast<std::size_t>(batch.rank == 4 ? 1 : 0);
    std::string place;
    if (has_tokens) place += fmt::format(" from token {}", index[batch_axes]);
    if (batch.rank >= 3) place += fmt::format(" in head {}", index[batch_axes + (has_tokens ? 1 : 0)]);
    if (batch.rank == 4) place += fmt::format(" of batch {}", index[0]);
    lines.push_back(fmt::format("the result \"{}\" is not finite{} (index {} is {}): {}", name, place,
                                to_string(index), array[flat], reason(variant, results, name, precision)));
  }
  return lines;
}

}  // namespace palimpsest
