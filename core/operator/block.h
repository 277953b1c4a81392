#pragma once

#include "core/base/matrix.h"

namespace palimpsest {

/// One pass through a phase's operations.
struct Block {
  Index phase = 0;
  Index first_token = 0;
  Index count = 1;      // tokens
  Index first_key = 0;  // softmax tiles: the keys this block looks at
  Index key_count = 0;
  bool starts_anew = false;  // the first block of an inner batch, or of a row of tiles
};

}  // namespace palimpsest
