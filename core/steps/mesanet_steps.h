#pragma once

#include "core/contract/sequence.h"
#include "core/steps/phase.h"

namespace palimpsest {

/// What each form of MesaNet (spec 3.13) shows, under the names that core/engines/mesanet records.
Steps mesanet_steps(const Sequence& sequence, Form form, Index chunk_size);

}  // namespace palimpsest
