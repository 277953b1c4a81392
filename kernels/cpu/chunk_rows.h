#pragma once

#include <stop_token>

#include "kernels/cpu/recurrent_rows.h"

namespace palimpsest::cpu {

/// Whether chunk_rows() takes rows of this structure: no decay or one per row, no erase or one by k.
bool fit_chunks(const Structure& structure);

/// Advances the states of heads of one structure and one size over all their rows, chunk_size at a time, and
/// writes the outputs, in up to `threads` threads; the results are the same to the bit for any number of
/// them. Throws Cancelled when asked to stop.
void chunk_rows(std::span<const HeadRows> heads, Index chunk_size, unsigned threads,
                const std::stop_token& stop = {});

}  // namespace palimpsest::cpu
