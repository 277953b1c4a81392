#pragma once

#include <cuda.h>

#include <cstdint>

namespace palimpsest {

/// Causal softmax attention of all heads as softmax_on_tensor_cores() takes it. Maps are those of
/// tensor_map.h; K and V are at most 128 and what a map lacks is 0.
struct SoftmaxTiles {
  std::int64_t batches = 1;
  std::int64_t heads = 1;
  std::int64_t T = 0;     // queries
  std::int64_t keys = 0;  // at least T; the last query sees all of them, the one before it one less
  CUtensorMap q = {};     // bf16 [B, T, H, K], already scaled
  CUtensorMap k = {};     // bf16 [B, keys, H, K]
  CUtensorMap v = {};     // bf16 [B, keys, H, V]
  CUtensorMap o = {};     // bf16 [B, T, H, V]
};

/// Tile by tile with a running maximum and sum. Compute capability 9.0 only.
void softmax_on_tensor_cores(const SoftmaxTiles& tiles);

}  // namespace palimpsest
