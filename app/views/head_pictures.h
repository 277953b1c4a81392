#pragma once

#include <optional>

#include "app/session/inputs.h"

namespace palimpsest {

/// Every head as a small picture of how alike its keys are, with its strengths and decays below, in rows as
/// wide as the panel. `present` is framed (-1: none). Returns the head that was clicked.
std::optional<Index> head_pictures(const PreviewedData& preview, Index present);

}  // namespace palimpsest
