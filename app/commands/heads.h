#pragma once

#include <stop_token>

#include "core/contract/sequence.h"
#include "core/rules/backend.h"

namespace palimpsest {

/// Runs every head of every batch: `o` and the final states under their contract names, with the axes of
/// heads and batches that q has, as double for f64 and as float for f32. The CPU takes a head per thread, as
/// far as memory goes; results do not depend on their number. Throws InputError if there is no head at all,
/// or if the results would fill the memory, Cancelled when asked to stop. `head_done` as in the backend's
/// own.
Arrays run_heads(const Backend& backend, const Variant& variant, const SequenceBatch& batch, Form form,
                 Precision precision, Index chunk_size, std::stop_token stop = {},
                 const HeadDone& head_done = {});

}  // namespace palimpsest
