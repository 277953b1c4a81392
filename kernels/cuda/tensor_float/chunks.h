#pragma once

#include "kernels/cuda/row_kernels.h"

namespace palimpsest::tensor_float {

inline constexpr int chunk_tokens = 32;
inline constexpr int most_channels = 128;  // K

/// Channels that a kernel is compiled for: K, filled up.
constexpr int padded(std::int64_t K) { return K <= most_channels / 2 ? most_channels / 2 : most_channels; }

/// What is made of all chunks before the chain goes through them; C is padded(K). All factors are rounded to
/// tf32, totals are f32. Tokens and channels that a chunk lacks are 0.
struct ChunkTables {
  std::int64_t chunks = 0;   // chunks_of(T)
  float* q_read = nullptr;   // [H, chunks, 32, C] e^G q: reads the state before the chunk
  float* k_read = nullptr;   // [H, chunks, 32, C] e^G k; null without erase
  float* k_write = nullptr;  // [H, chunks, 32, C] e^{G_last - G} k: writes the state after it
  float* scores = nullptr;   // [H, chunks, 32, 32] P_ij = sum_c q_ic k_jc e^{G_ic - G_jc}, j <= i
  float* factors = nullptr;  // [H, chunks, 32, 32] (I + Diag(beta) N)^-1 Diag(beta), N as P, of k and k
  float* totals = nullptr;   // [H, chunks, C] e^{G_last}
};

/// Chunks of 32 tokens of a whole head.
constexpr std::int64_t chunks_of(std::int64_t T) { return (T + chunk_tokens - 1) / chunk_tokens; }

/// Makes the tables of row programs with no decay, one per token or one per key channel, and with or without
/// erase by k, K up to 128. Throws Error with CUDA's words, as what follows does.
void make_tables(const RowPrograms<float>& programs, const ChunkTables& tables);

/// Goes through all chunks with the state in registers: outputs and final states go where `programs` wants
/// them.
void chain(const RowPrograms<float>& programs, const ChunkTables& tables);

/// Causal softmax attention of all heads without gates, K and V up to 128, in tf32 with sums in f32: o [H, L,
/// V]. Key row 0 is number 0. Throws Error with CUDA's words.
void softmax(const Attention<float>& attention, const DeviceRows<float>& o);

}  // namespace palimpsest::tensor_float
