#pragma once

#include <string>

#include "core/base/matrix.h"

namespace palimpsest {

/// A cell of a recorded tensor that somebody points at.
struct CellFocus {
  std::string tensor;
  Index row = 0;
  Index column = 0;

  bool operator==(const CellFocus&) const = default;
};

}  // namespace palimpsest
