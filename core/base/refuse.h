#pragma once

#include <fmt/format.h>

#include "core/base/array.h"
#include "core/base/error.h"

namespace palimpsest {

/// Throws an InputError with this message. Not in error.h, which nvcc compiles: it cannot compile fmt.
template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> words, Arguments&&... arguments) {
  throw InputError(fmt::format(words, std::forward<Arguments>(arguments)...));
}

/// Throws an InputError about an array: its name, its shape and these words, such as "has rank 5".
template <class... Arguments>
[[noreturn]] void refuse_shape(std::string_view name, const std::vector<Index>& shape,
                               fmt::format_string<Arguments...> words, Arguments&&... arguments) {
  refuse("array \"{}\": shape {} {}", name, to_string(shape),
         fmt::format(words, std::forward<Arguments>(arguments)...));
}

}  // namespace palimpsest
