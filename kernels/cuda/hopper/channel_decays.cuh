#pragma once

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/hopper/instructions.cuh"
#include "kernels/cuda/hopper/tiles.h"

// Decays of every key channel in a chunk of 64 tokens, multiplied into queries and keys. With G the running
// sums of g = log alpha from the chunk's first token on:
//
//   e^G o Q, e^G o K          what reads the state before the chunk
//   e^{G_64 - G} o K          what writes the state after it
//   P_ij = sum_c q_ic k_jc e^{G_ic - G_jc}, j <= i, and the same of k and k for the triangular factor
//
// e^G and e^{-G} alone would leave the range of numbers. So a chunk is cut into blocks of 16 tokens, with A_I
// the sums before block I, and every exponent that is taken is at most 0 (spec 2.1):
//
//   q^_i = e^{G_i - A_I} q_i, k^_i = e^{G_i - A_I} k_i             from the block's beginning to a token
//   k-_j = e^{A_{J+1} - G_j} k_j                                   from a token to the block's end
//   P_ij = sum_c q^_i k-_j                                         from block I - 1 to I
//   P_ij = sum_c (e^{A_I - A_2} q^_i) (e^{A_2 - A_{J+1}} k-_j)     from blocks 0, 1 to 2, 3
//   P_ij = sum_c q^_i (e^{A_I - A_{I+1}} k-_j)                     within one block
//
// (The last takes an inverse: channels that decay by more than 2^-115 in a block are left out, and added
// pair by pair in f32. A gate that closes counts as 2^-32, so that takes four of them. Logarithms are to
// base 2.)
//
// What is here serves both who do this: the chain (decayed_chunks.cuh) and, with erase, a kernel before it
// (chunk_decays.cu).

namespace palimpsest::hopper::channel_decays {

inline constexpr int channels = 2 * tile_columns;
inline constexpr int rows_per_block = 16;
inline constexpr int blocks = tile_rows / rows_per_block;
inline constexpr unsigned all_lanes = 0xffffffff;
// Logarithms to base 2. least_log: the smallest decay whose inverse is finite, with a margin for products.
// least_gate: a gate that is 0 beside 1 in f32, large enough that a channel that closes three times in a
// block still has an inverse, with 19 to spare for its other gates.
inline constexpr float least_log = -115;
inline constexpr float least_gate = -32;

__device__ inline float bounded_gate(float g) { return fmaxf(log2_e * g, least_gate); }

/// A number of each of two channels.
__device__ inline float2 sum(float2 a, float2 b) { return {a.x + b.x, a.y + b.y}; }
__device__ inline float2 difference(float2 a, float2 b) { return {a.x - b.x, a.y - b.y}; }
__device__ inline float2 product(float2 a, float2 b) { return {a.x * b.x, a.y * b.y}; }
using palimpsest::two_to;
__device__ inline float2 two_to(float2 x) { return {two_to(x.x), two_to(x.y)}; }
__device__ inline std::uint32_t as_bfloats(float2 numbers) { return packed<Bfloat>(numbers.x, numbers.y); }

/// A_{I+1} - A_I of every block and channel.
using Logs = float[blocks][channels];

__device__ inline float2& two_of(Logs& logs, int block, int channel) {
  return reinterpret_cast<float2&>(logs[block][channel]);
}

/// The decays of two channels from the chunk's beginning to a block's, from the block's end to the chunk's,
/// and of the whole chunk.
struct Ends {
  float2 before = {}, after = {}, all = {};
};

__device__ inline Ends ends(Logs& logs, int block, int channel) {
  Ends ends;
  unrolled<blocks>([&](int b) {
    const float2 own = two_of(logs, b, channel);
    if (b < block) ends.before = sum(ends.before, own);
    if (b > block) ends.after = sum(ends.after, own);
    ends.all = sum(ends.all, own);
  });
  return {two_to(ends.before), two_to(ends.after), two_to(ends.all)};
}

/// The inverse of a block's decay, 0 where that would not be finite.
__device__ inline float inverse_of(float log) { return log < least_log ? 0 : two_to(-log); }

/// Two channels, of which the first is even, of 16 rows of a block in two tiles side by side.
class Pairs {
 public:
  __device__ Pairs(const Tile* tiles, int block, int channel)
      : first_(shared_address(&tiles[channel / tile_columns]) + block * rows_per_block * 128 +
               channel % tile_columns * 2) {}

  /// The address of those of row i.
  __device__ std::uint32_t row(int i) const {
    return (first_ ^ static_cast<std::uint32_t>(i % 8 * 16)) + static_cast<std::uint32_t>(i * 128);
  }

 private:
  std::uint32_t first_;
};

/// A block of scores as it goes into a tile; on the diagonal 0 for what a row does not see.
template <class Number>
__device__ Left scores_of_block(const float (&P)[8], bool is_diagonal, bool reads_first) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  Left block;
  unrolled<4>([&](int i) {
    const int row = lane / 4 + i % 2 * 8;
    const int column = lane % 4 * 2 + i / 2 * 8;
    const int seen = !is_diagonal ? rows_per_block : reads_first ? row : row + 1;
    block.at[i] = packed<Number>(column < seen ? P[2 * i] : 0, column + 1 < seen ? P[2 * i + 1] : 0);
  });
  return block;
}

/// One channel of a token as it was given; its gate bounded.
struct Given {
  float q, k, g;
};

/// 16 tokens of a head.
struct Block {
  const TokenChunks& of;
  int head;
  std::int64_t first;

  /// From memory: the tiles have their decays in them.
  __device__ Given given(int row, int channel) const {
    const std::int64_t token = first + row;
    if (token >= of.T || channel >= of.K) return {};
    const auto number = [&](const auto& rows) { return rows.row(head, token)[channel]; };
    return {__bfloat162float(number(of.q_rows)), __bfloat162float(number(of.k_rows)),
            bounded_gate(number(of.g))};
  }
};

/// Adds one channel of all pairs of a block to its scores P, and with erase to those of k and k, N, in f32.
/// By a warp: a lane is given a row, twice over, with its beta, and adds to the pairs that it has.
template <bool erases>
__device__ void add_channel(float (&P)[8], float (&N)[8], bool reads_first, const Given& given, float beta) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row = lane % rows_per_block;
  float G = given.g;
#pragma unroll
  for (int distance = 1; distance < rows_per_block; distance *= 2) {
    const float before = __shfl_up_sync(all_lanes, G, distance, rows_per_block);
    if (row >= distance) G += before;
  }
  const float before = __shfl_up_sync(all_lanes, G, 1, rows_per_block);
  const float read = reads_first ? before : G;  // no pair of the first row counts then
  const float written = erases ? given.k : beta * given.k;
  const auto of = [](float number, int from) { return __shfl_sync(all_lanes, number, from); };
  float q_i[2], k_i[2], read_i[2], G_i[2];
  unrolled<2>([&](int half) {
    const int i = lane / 4 + 8 * half;
    q_i[half] = of(given.q, i);
    k_i[half] = of(given.k, i);
    read_i[half] = of(read, i);
    G_i[half] = of(G, i);
  });
  unrolled<4>([&](int n) {
    const int j = n / 2 * 8 + lane % 4 * 2 + n % 2;
    const float k_j = of(written, j);
    const float G_j = of(G, j);
    unrolled<2>([&](int half) {
      const int e = n / 2 * 4 + 2 * half + n % 2;
      P[e] += q_i[half] * k_j * two_to(read_i[half] - G_j);  // of no use where j > i
      if constexpr (erases) N[e] += k_i[half] * k_j * two_to(G_i[half] - G_j);
    });
  });
}

/// Adds what channels without inverses give. logs: of the block; beta: of row lane % 16.
template <bool erases>
__device__ void add_strong_channels(float (&P)[8], float (&N)[8], const Block& block,
                                    const float (&logs)[channels], float beta) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const float4 four = reinterpret_cast<const float4&>(logs[4 * lane]);
  const float least = fminf(fminf(four.x, four.y), fminf(four.z, four.w));
  if (!__any_sync(all_lanes, least < least_log)) return;
#pragma unroll 1
  for (int first = 0; first < channels; first += 32) {
    unsigned strong = __ballot_sync(all_lanes, logs[first + lane] < least_log);
    Given following = {};
    const auto fetch = [&] {  // the next one, while one is added
      if (strong != 0)
        following = block.given(lane % rows_per_block, first + __ffs(static_cast<int>(strong)) - 1);
    };
    fetch();
#pragma unroll 1
    while (strong != 0) {
      const Given given = following;
      strong &= strong - 1;
      fetch();
      add_channel<erases>(P, N, block.of.reads_first, given, beta);
    }
  }
}

}  // namespace palimpsest::hopper::channel_decays
