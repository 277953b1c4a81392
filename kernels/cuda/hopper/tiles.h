#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdint>

#include "kernels/cuda/head_matrices.h"

namespace palimpsest {

/// Rows of all heads, [B, T, H, columns].
struct Extent {
  std::int64_t batches = 1;
  std::int64_t heads = 1;
  std::int64_t T = 0;
  std::int64_t columns = 0;

  std::size_t size() const { return static_cast<std::size_t>(batches * heads * T * columns); }
};

/// Columns of a copy whose rows begin at multiples of 16 bytes.
constexpr std::int64_t padded_columns(std::int64_t columns) { return (columns + 7) / 8 * 8; }

/// Copies rows of numbers that bf16 has, to [B, H, T, padded_columns()]; what is added is 0.
void pack(const DeviceRows<const float>& rows, const Extent& extent, __nv_bfloat16* to);

/// And back.
void unpack(const __nv_bfloat16* from, const Extent& extent, const DeviceRows<float>& rows);

/// g = log alpha, or g as given where `are_logs`, to [B, H, T, columns_of_copy]; what is added is 0.
void pack_gates(const DeviceRows<const float>& gates, bool are_logs, const Extent& extent,
                std::int64_t columns_of_copy, float* to);

/// Keys of all heads in chunks of 64 tokens, and where their factors go.
struct ChunkFactors {
  std::int64_t batches = 1;
  std::int64_t heads = 1;
  std::int64_t T = 0;
  CUtensorMap k = {};                 // bf16 [B, T, H, K], K <= 128
  DeviceRows<const float> g = {};     // [B, T, H, 1], at most 0; absent: no decay
  DeviceRows<const float> beta = {};  // [B, T, H, 1]; absent: 1
  __half* factors = nullptr;          // [B, H, chunks 64, 64]
};

/// T = (I + diag(beta) L)^-1 diag(beta) of every chunk, L_ij = e^{G_i - G_j} k_i . k_j for j < i. Compute
/// capability 9.0 only.
void make_chunk_factors(const ChunkFactors& of);

/// Queries and keys of all heads in chunks of 64 tokens, where every key channel decays for itself, and what
/// becomes of them. K is at most 128 and what a map lacks is 0.
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
  __half* factors = nullptr;  // [B, H, chunks 64, 64]: T as make_chunk_factors() has it; with erase
  float* totals = nullptr;    // [B, H, chunks, 128]: e^{G_64}
};

/// Multiplies the decays into what ChunkChain takes. Compute capability 9.0 only.
void multiply_decays_in(const ChunkDecays& of);

/// Chunks of 64 tokens of all heads as chain_on_tensor_cores() takes them. Arrays of two-byte numbers are
/// maps (tensor_rows.cpp); K is at most 128, V whatever it is, and what a map lacks is 0.
/// With erase four factors of products are f16: docs/kernels.md says what leaves its range.
struct ChunkChain {
  std::int64_t batches = 1;
  std::int64_t heads = 1;
  std::int64_t T = 0;
  std::int64_t K = 0;
  std::int64_t V = 0;
  bool erases = false;       // u = v - S~^T k instead of v
  bool reads_first = false;  // o_t = S_{t-1}^T q_t

  CUtensorMap q = {};  // bf16 [B, T, H, K]
  CUtensorMap k = {};  // bf16 [B, T, H, K]
  CUtensorMap v = {};  // bf16 [B, T, H, V]
  CUtensorMap o = {};  // bf16 [B, T, H, V]

  DeviceRows<const float> g = {};        // [B, T, H, 1], at most 0; absent: no decay
  DeviceRows<const float> beta = {};     // [B, T, H, 1], where nothing is erased; with erase it is in factors
  const float* initial_state = nullptr;  // [B, H, K, V]; absent: 0
  float* final_state = nullptr;          // [B, H, K, V]

  CUtensorMap factors = {};  // f16 [B, chunks 64, H, 64]: row i of U = factors R; with erase

  // Where every key channel decays for itself, somebody has multiplied the decays in (ChunkDecays).
  bool decays_by_channel = false;
  CUtensorMap k_read = {};        // bf16 [B, T, H, K]: what the erase reads the chunk's first state with
  CUtensorMap scores = {};        // bf16, f16 with erase; [B, chunks 64, H, 64]: o = scores U besides
  const float* totals = nullptr;  // [B, H, chunks, 128]: what is left of S after each chunk
};

/// From chunk to chunk with the state in registers. Compute capability 9.0 only.
void chain_on_tensor_cores(const ChunkChain& chain);

/// Causal softmax attention of all heads as softmax_on_tensor_cores() takes it. K and V are at most 128 and
/// what a map lacks is 0.
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
