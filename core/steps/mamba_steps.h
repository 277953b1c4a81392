#pragma once

#include "core/contract/sequence.h"
#include "core/steps/phase.h"

namespace palimpsest {

/// What each form of Mamba (spec 3.14) shows, under the names that core/engines/mamba records.
Steps mamba_steps(const Sequence& sequence, Form form, Index chunk_size);

}  // namespace palimpsest
