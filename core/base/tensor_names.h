#pragma once

#include <span>
#include <string_view>

namespace palimpsest {

/// A name under which a Record holds what an engine of row programs or softmax makes.
struct TensorName {
  std::string_view name;
  std::string_view words;
};

/// All of them: no input of a variant may be called so.
std::span<const TensorName> tensor_names();

/// Whether `name` is one of them.
bool is_tensor_name(std::string_view name);

}  // namespace palimpsest
