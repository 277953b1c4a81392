#pragma once

#include <fmt/format.h>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/matrix.h"
#include "core/base/table.h"

namespace palimpsest {

/// "1 token", "3 tokens".
inline std::string counted(Index count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

/// What the exception that is being handled tells a person. Call it in a catch block.
std::string problem_in_words();

}  // namespace palimpsest
