#pragma once

#include <cuda.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/cuda/row_programs.h"

namespace palimpsest {

/// Keys of all heads in chunks of 64 tokens, and where their factors go.
struct ChunkFactors {
  std::int64_t batches = 1;
  std::int64_t heads = 1;
  std::int64_t T = 0;
  CUtensorMap k = {};                 // bf16 [B, T, H, K], K <= 128 (tensor_map.h)
  DeviceRows<const float> g = {};     // [B, T, H, 1], at most 0; absent: no decay
  DeviceRows<const float> beta = {};  // [B, T, H, 1]; absent: 1
  __half* factors = nullptr;          // [B, H, chunks 64, 64]
};

/// T = (I + diag(beta) L)^-1 diag(beta) of every chunk, L_ij = e^{G_i - G_j} k_i . k_j for j < i. Compute
/// capability 9.0 only.
void make_chunk_factors(const ChunkFactors& of);

}  // namespace palimpsest
