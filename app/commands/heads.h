#pragma once

#include "core/backend.h"
#include "core/sequence.h"

namespace palimpsest {

/// Runs every head of every batch: `o` and the final states under their contract names, with the axes of
/// heads and batches that q has, as double for f64 and as float for f32. The CPU takes a head per thread;
/// results do not depend on their number. Throws InputError if there is no head at all.
Arrays run_heads(const Backend& backend, const Variant& variant, const SequenceBatch& batch, Form form,
                 Precision precision, Index chunk_size);

}  // namespace palimpsest
