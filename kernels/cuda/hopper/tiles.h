#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/cuda/head_matrices.h"

namespace palimpsest {

namespace hopper {

inline constexpr int tile_rows = 64;
inline constexpr int tile_columns = 64;
inline constexpr int tile_bytes = tile_rows * tile_columns * 2;

/// 64 rows of 64 numbers of two bytes, as shared memory has them. A row takes 128 bytes, and its 16-byte
/// pieces are exchanged: piece p of row r lies where piece p ^ (r % 8) would (the 128-byte swizzle), so that
/// neither rows nor columns conflict in one bank.
struct alignas(1024) Tile {
  unsigned char bytes[tile_bytes];
};

inline constexpr int unit_lower_block = 16;  // tokens of a block of triangular factors

/// What their blocks on the diagonal are made of: beta_i L_ij for j < i and beta_i for j = i, column after
/// column; two blocks lie in other banks.
struct alignas(16) Diagonal {
  float at[unit_lower_block][unit_lower_block + 4];
  float unused[4];
};

}  // namespace hopper

/// Rows of all heads, [H, T, columns].
struct Extent {
  std::int64_t heads = 1;
  std::int64_t T = 0;
  std::int64_t columns = 0;

  std::size_t size() const { return static_cast<std::size_t>(heads * T * columns); }
};

/// Columns of a copy whose rows begin at multiples of 16 bytes.
constexpr std::int64_t padded_columns(std::int64_t columns) { return (columns + 7) / 8 * 8; }

/// Copies rows of numbers that bf16 has, to [H, T, padded_columns()]; what is added is 0.
void pack(const DeviceRows<const float>& rows, const Extent& extent, __nv_bfloat16* to);

/// And back.
void unpack(const __nv_bfloat16* from, const Extent& extent, const DeviceRows<float>& rows);

/// g = log alpha, or g as given where `are_logs`, to [H, T, columns_of_copy]; what is added is 0.
void pack_gates(const DeviceRows<const float>& gates, bool are_logs, const Extent& extent,
                std::int64_t columns_of_copy, float* to);

/// Rows of all heads in chunks of 64 tokens, and the tables that are made of them before the chain.
/// Arrays of two-byte numbers are maps (tensor_rows.cpp); K is at most 128, V whatever it is, and what a map
/// lacks is 0. With erase four factors of products are f16: docs/kernels.md says what leaves its range.
struct TokenChunks {
  std::int64_t heads = 1;
  std::int64_t T = 0;
  std::int64_t chunks = 0;  // of a head
  std::int64_t K = 0;
  std::int64_t V = 0;
  bool erases = false;             // u = v - S~^T k instead of v
  bool reads_first = false;        // o_t = S_{t-1}^T q_t: G_i of a read is that of the token before
  bool decays_by_channel = false;  // every key channel has its own decay
  bool has_tables = false;         // with a decay per channel: always with erase

  CUtensorMap q = {};                           // bf16 [H, T, K]
  CUtensorMap k = {};                           // bf16 [H, T, K]
  CUtensorMap v = {};                           // bf16 [H, T, V]
  CUtensorMap o = {};                           // bf16 [H, T, V]
  DeviceRows<const __nv_bfloat16> q_rows = {};  // q and k once more
  DeviceRows<const __nv_bfloat16> k_rows = {};
  DeviceRows<const float> g = {};     // [H, T, 1], at most 0; absent: no decay. By channel [H, T, 128], with
                                      // 0 beyond K; rows begin at 16 bytes
  DeviceRows<const float> beta = {};  // [H, T, 1]; absent: 1
  float* state = nullptr;             // [H, K, V], the initial one and then the final one

  // The tables: queries and keys multiplied by their decays.
  CUtensorMap q_read = {};         // bf16 [H, T, 128]: e^G q
  CUtensorMap k_read = {};         // likewise: e^G k; with erase
  CUtensorMap k_write = {};        // likewise: e^{G_64 - G} k, times beta without erase
  float* totals = nullptr;         // [H, chunks, 128]: e^{G_64}
  hopper::Tile* scores = nullptr;  // [H, chunks]: sum_c q_ic k_jc e^{G_ic - G_jc}, j <= i; f16 with erase,
                                   // else bf16 and times beta_j
  // With erase L_ij = sum_c k_ic k_jc e^{G_ic - G_jc} for j < i:
  hopper::Tile* strengths = nullptr;      // [H, chunks]: f16, below the blocks on the diagonal
  hopper::Diagonal* diagonals = nullptr;  // [H, chunks, 4]: those

  // The chunks of a head in segments, side by side (segment_states.cu); where there are several:
  std::int64_t segments = 1;
  std::int64_t chunks_per_segment = 0;
  float* segment_states = nullptr;  // [H, segments, K, V]: what each makes of an empty state; then the state
                                    // before it
  float* transitions = nullptr;  // what each makes of a state besides: with erase [H, segments, 128, 128], a
                                 // matrix transposed; else [H, segments, 128], its diagonal
};

/// Cuts the chunks of a head into as many segments as pay.
void cut_into_segments(TokenChunks& of);

/// Makes the tables of the chain with a decay per channel. Compute capability 9.0 only, as what follows.
void multiply_decays_in(const TokenChunks& of);

/// Puts the state before each segment where its chain without outputs has left what it makes of none.
void pass_states_on(const TokenChunks& chain);

/// From chunk to chunk with the state in registers.
void chain_on_tensor_cores(const TokenChunks& chain);

/// Causal softmax attention of all heads as softmax_on_tensor_cores() takes it. K and V are at most 128 and
/// what a map lacks is 0.
struct SoftmaxTiles {
  std::int64_t heads = 1;
  std::int64_t T = 0;     // queries
  std::int64_t keys = 0;  // at least T; the last query sees all of them, the one before it one less
  CUtensorMap q = {};     // bf16 [H, T, K], already scaled
  CUtensorMap k = {};     // bf16 [H, keys, K]
  CUtensorMap v = {};     // bf16 [H, keys, V]
  CUtensorMap o = {};     // bf16 [H, T, V]
};

/// Tile by tile with a running maximum and sum.
void softmax_on_tensor_cores(const SoftmaxTiles& tiles);

}  // namespace palimpsest
