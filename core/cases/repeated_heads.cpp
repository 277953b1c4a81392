#include "core/cases/repeated_heads.h"

#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/parallel_for.h"

namespace palimpsest {

namespace {

template <class Scalar>
Array repeated(const Array& head, bool has_tokens, Index batches, Index heads) {
  const Index tokens = has_tokens ? head.shape.front() : 1;
  const Index width = tokens > 0 ? head.size() / tokens : 0;
  std::vector<Index> shape = {batches};
  if (has_tokens) shape.push_back(tokens);
  shape.push_back(heads);
  shape.insert(shape.end(), head.shape.begin() + (has_tokens ? 1 : 0), head.shape.end());
  const auto given = std::visit(
      [](const auto& numbers) { return std::vector<Scalar>(numbers.begin(), numbers.end()); }, head.values);
  std::vector<Scalar> values;
  values.reserve(static_cast<std::size_t>(batches * heads * head.size()));
  for (Index batch = 0; batch < batches; ++batch) {
    for (auto row = given.begin(); row != given.end(); row += width) {
      for (Index copy = 0; copy < heads; ++copy) values.insert(values.end(), row, row + width);
    }
  }
  return {std::move(shape), std::move(values)};
}

}  // namespace

Arrays repeated_heads(const Variant& variant, const Settings& settings, const Arrays& head, Index batches,
                      Index heads, Precision precision) {
  struct Given {
    std::string name;
    const Array* numbers;
    bool has_tokens;
  };
  std::vector<Given> given;
  for (const Input& input : inputs_of(variant, settings)) {
    for (const auto& name :
         std::set{input.name, std::string(input.range == Range::decay ? "g" : input.name)}) {
      if (const auto found = head.find(name); found != head.end())
        given.push_back({name, &found->second, has_tokens(input)});
    }
  }
  std::vector<Array> made = made_in_parallel(given.size(), {}, [&](std::size_t i) {
    const auto& [name, numbers, has_tokens] = given[i];
    return precision == Precision::f64 ? repeated<double>(*numbers, has_tokens, batches, heads)
                                       : repeated<float>(*numbers, has_tokens, batches, heads);
  });
  Arrays all;
  for (std::size_t i = 0; i < given.size(); ++i) all[given[i].name] = std::move(made[i]);
  return all;
}

}  // namespace palimpsest
