#include "app/session/data_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "core/io/capture.h"

namespace palimpsest {

namespace {

/// Which known arrays have an axis of tokens.
const std::map<std::string, bool, std::less<>>& has_token_axis() {
  static const auto table = [] {
    std::map<std::string, bool, std::less<>> known = {{"o", true}, {"g", true}};
    for (const Variant& variant : variants()) {
      for (const Input& input : all_inputs(variant)) {
        known[input.name] = !input.shape.empty() && input.shape.front() == "n";
      }
    }
    return known;
  }();
  return table;
}

/// The part of `array` that belongs to one head: axes [B, n, H, ...] or [B, H, ...] lose B and H.
Array slice(const Array& array, bool tokens, int head_axes, Index batch, Index head, Index heads) {
  const auto extent = [&](std::size_t axis) { return axis < array.shape.size() ? array.shape[axis] : Index{1}; };
  const bool has_batch = head_axes == 2;
  const std::size_t token_axis = has_batch ? 1 : 0;
  const std::size_t head_axis = token_axis + (tokens ? 1 : 0);
  const Index rows = tokens ? extent(token_axis) : 1;
  const Index own_heads = extent(head_axis);
  Index columns = 1;
  for (std::size_t axis = head_axis + 1; axis < array.shape.size(); ++axis) columns *= array.shape[axis];
  const Index own_head = heads > 0 ? head * own_heads / heads : 0;

  std::vector<Index> shape;
  if (tokens) shape.push_back(rows);
  shape.insert(shape.end(), array.shape.begin() + static_cast<std::ptrdiff_t>(head_axis) + 1, array.shape.end());
  return std::visit(
      [&](const auto& values) {
        std::remove_cvref_t<decltype(values)> part;
        part.reserve(static_cast<std::size_t>(rows * columns));
        for (Index row = 0; row < rows; ++row) {
          const auto first = values.begin() + ((batch * rows + row) * own_heads + own_head) * columns;
          part.insert(part.end(), first, first + columns);
        }
        return Array(shape, std::move(part));
      },
      array.values);
}

}  // namespace

void measure(DataSet& data) {
  for (const char* name : {"q", "k", "v"}) {
    const auto found = data.arrays.find(name);
    if (found == data.arrays.end()) throw InputError(fmt::format("array \"{}\" is missing", name));
    const Index rank = found->second.rank();
    if (rank < 2 || rank > 4) {
      throw InputError(fmt::format("array \"{}\": shape {} has rank {}; expected [T, D], [T, H, D] or [B, T, H, D]", name,
                                   to_string(found->second.shape), rank));
    }
    if (rank != data.arrays.find("q")->second.rank()) {
      throw InputError(fmt::format("array \"{}\": shape {} has rank {}; expected {} as in \"q\"", name,
                                   to_string(found->second.shape), rank, data.arrays.find("q")->second.rank()));
    }
  }
  const std::vector<Index>& shape = data.arrays.find("q")->second.shape;
  const int head_axes = static_cast<int>(shape.size()) - 2;
  data.batches = head_axes == 2 ? shape[0] : 1;
  data.tokens = shape[head_axes == 2 ? 1 : 0];
  data.heads = 1;
  if (head_axes > 0) {
    for (const auto& [name, array] : data.arrays) {
      const auto known = has_token_axis().find(name);
      if (known == has_token_axis().end()) continue;
      const std::size_t axis = static_cast<std::size_t>(head_axes - 1 + (known->second ? 1 : 0));
      if (axis < array.shape.size()) data.heads = std::max(data.heads, array.shape[axis]);
    }
  }
  if (data.tokens == 0) throw InputError("the sequence is empty: array \"q\" has no tokens, so there is nothing to show");
  if (data.labels.empty()) {
    for (Index t = 0; t < data.tokens; ++t) data.labels.push_back(fmt::format("{}", t));
  }
  if (static_cast<Index>(data.labels.size()) != data.tokens) {
    throw InputError(fmt::format("{} labels for {} tokens", data.labels.size(), data.tokens));
  }
}

DataSet open_file(const std::filesystem::path& path) {
  Capture capture = read_capture(path);
  DataSet data;
  data.id = path.string();
  data.rule = capture.rule;
  data.text = capture.text;
  data.notes = capture.notes;
  data.stated_error = capture.reproduction_error;
  data.source = capture.model;
  if (!capture.licence.empty()) data.source += (data.source.empty() ? "" : " · ") + capture.licence;
  data.title = capture.name;
  data.arrays = std::move(capture.arrays);
  data.labels = std::move(capture.tokens);
  try {
    measure(data);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path.string(), error.what()));
  }
  return data;
}

Arrays head_arrays(const DataSet& data, Index head) {
  const int head_axes = static_cast<int>(data.arrays.find("q")->second.rank()) - 2;
  Arrays arrays;
  for (const auto& [name, array] : data.arrays) {
    const auto known = has_token_axis().find(name);
    if (known == has_token_axis().end()) {
      if (array.size() == 1 || name == "gamma") arrays.emplace(name, array);
      continue;
    }
    if (head_axes == 0) {
      arrays.emplace(name, array);
    } else if (array.rank() >= head_axes + (known->second ? 1 : 0)) {
      arrays.emplace(name, slice(array, known->second, head_axes, head / data.heads, head % data.heads, data.heads));
    }
  }
  return arrays;
}

}  // namespace palimpsest
