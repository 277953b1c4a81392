#pragma once

#include <stop_token>

#include "kernels/cpu/recurrent_rows.h"

namespace palimpsest::cpu {

/// Softmax attention of one head without gates: query i sees keys 0 .. first_query + i (CachedQueries, with
/// the shapes that stand there), as many as there are.
struct HeadAttention {
  Index queries = 0;
  Index keys = 0;
  Index channels = 0;        // of a query and a key
  Index value_channels = 0;  // of a value
  Index first_query = 0;
  StridedRows Q = {};
  StridedRows K = {};
  StridedRows V = {};
  float* o = nullptr;  // [queries, value_channels], row i begins at o + i o_stride
  Index o_stride = 0;
};

/// Writes the outputs of heads of one size, in up to `threads` threads. The results are the same to the bit
/// for any number of them. Throws Cancelled when asked to stop.
void softmax_tiles(std::span<const HeadAttention> heads, unsigned threads, const std::stop_token& stop = {});

}  // namespace palimpsest::cpu
