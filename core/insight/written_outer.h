#pragma once

#include <optional>

#include "core/insight/learning_moment.h"

namespace palimpsest {

/// What a step writes as one direction times what was missing: key error^T, `error` the opposite of the
/// gradient's.
struct WrittenOuter {
  Vector<double> key;      // [K], with the strength of the step
  Vector<double> error;    // [V]: what should be there - what is there; of a dot loss v, times its weight
  bool along_key = false;  // `key` points where the gradient's does: not so where a memory of keys turns it
};

/// Nothing where the gradient is no outer product, or the step is another one.
std::optional<WrittenOuter> written_outer(const LearningMoment& moment);

}  // namespace palimpsest
