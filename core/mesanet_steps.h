#pragma once

#include "core/phase.h"
#include "core/sequence.h"

namespace palimpsest {

/// What each form of MesaNet (spec 3.13) shows, under the names that core/engines/mesanet records.
Steps mesanet_steps(const Sequence& sequence, Form form, Index chunk_size);

}  // namespace palimpsest
