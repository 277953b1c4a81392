#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/cuda/row_programs.h"

namespace palimpsest {

/// Queries and keys of all heads in chunks of 64 tokens, where every key channel decays for itself, and what
/// becomes of them. Maps are those of tensor_map.h; K is at most 128 and what a map lacks is 0.
struct ChunkDecays {
  std::int64_t batches = 1;
  std::int64_t heads = 1;
  std::int64_t T = 0;
  std::int64_t K = 0;
  bool erases = false;
  bool reads_first = false;  // o_t = S_{t-1}^T q_t: G_i of a read is that of the token before
  CUtensorMap q = {};        // bf16 [B, T, H, K]
  CUtensorMap k = {};        // bf16 [B, T, H, K]
  DeviceRows<const __nv_bfloat16> q_rows = {};  // the same arrays
  DeviceRows<const __nv_bfloat16> k_rows = {};
  DeviceRows<const float> g = {};     // [B, T, H, 128], at most 0, with 0 beyond K; rows begin at 8 bytes
  DeviceRows<const float> beta = {};  // [B, T, H, 1]; absent: 1

  CUtensorMap q_read = {};   // bf16 [B, T, H, 128]: e^G q
  CUtensorMap k_read = {};   // likewise: e^G k; with erase
  CUtensorMap k_write = {};  // likewise: e^{G_64 - G} k, times beta without erase
  CUtensorMap scores = {};  // [B, chunks 64, H, 64]: sum_c q_ic k_jc e^{G_ic - G_jc}, j <= i; f16 with erase,
                            // else bf16 and times beta_j
  __half* factors = nullptr;  // [B, H, chunks 64, 64]: T as in chunk_factors.h; with erase
  float* totals = nullptr;    // [B, H, chunks, 128]: e^{G_64}
};

/// Multiplies the decays into what ChunkChain takes. Compute capability 9.0 only.
void multiply_decays_in(const ChunkDecays& of);

}  // namespace palimpsest
