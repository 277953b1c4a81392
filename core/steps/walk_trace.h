#pragma once

#include <memory>

#include "core/engines/walk.h"
#include "core/steps/phase.h"

namespace palimpsest {

/// The trace of a walk: carried matrices kept every few blocks within `budget` bytes, the rest recomputed
/// from the nearest ones by the same engine.
template <class Scalar>
std::unique_ptr<Trace> make_walk_trace(std::unique_ptr<const Walk<Scalar>> walk, Steps steps, Groups groups,
                                       std::size_t budget);

}  // namespace palimpsest
