#pragma once

#include <memory>

#include "core/rule.h"

namespace palimpsest {

/// LaCT, spec 3.11. Recurrent: the gradient is gathered token by token, the weights change at batch ends.
/// Chunkwise: gathered in pieces of at most one chunk that never cross the end of an inner batch, so that the
/// chunk changes no result. Parallel: the scan over all batches, where no gradient needs the weights.
std::shared_ptr<const Rule> lact_rule();

}  // namespace palimpsest
