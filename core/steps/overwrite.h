#pragma once

#include <optional>

#include "core/steps/trace.h"

namespace palimpsest {

/// A write that takes something out of the memory and lays something down in its place:
/// erased + written = update. All three are expressions over the tensors of the block.
struct Overwrite {
  Expression erased;
  Expression written;
  Expression update;
  bool is_one_step = true;  // one operation makes the update; else one erases and another writes
};

/// That of the update that `operation` makes or is part of, by the steps of `phase` alone: a product with the
/// difference of what should be there and what is there now, or an erase and a write that are added up. None
/// where the rule does not erase. The phase may be turned (core/steps/turned.h).
std::optional<Overwrite> overwrite_of(const Phase& phase, const Operation& operation);

}  // namespace palimpsest
