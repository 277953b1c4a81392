#pragma once

#include <string>
#include <vector>

#include "core/trace.h"

namespace palimpsest {

/// A line of pictures by the result it shows; `inlined` results are written out as their definitions.
struct ShownLine {
  std::string title;
  std::string sentence;
  std::string result;
  std::vector<std::string> inlined = {};
  double weight = 1;
};

/// A phase from its operations in order and the lines that show them: each line takes the operations after
/// the line before it, up to the one that makes its result.
Phase make_phase(std::string title, std::vector<Operation> operations, const std::vector<ShownLine>& shown,
                 std::vector<Carry> carries = {});

}  // namespace palimpsest
