#pragma once

#include "core/base/matrix.h"

namespace palimpsest {

/// The most heads of all batches together: as many as blocks fit along the second or third axis of a GPU's
/// grid.
inline constexpr Index most_heads_in_all = 65535;

}  // namespace palimpsest
