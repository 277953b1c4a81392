#pragma once

#include "kernels/cuda/hopper/channel_decays.cuh"

namespace palimpsest::hopper {

/// Queries and keys of a chunk with their decays in them, and scores, as channel_decays.cuh has them, made in
/// the chain by two warpgroups: nothing of this is written to memory and read again.
///
/// A thread takes two channels of a block of 16 tokens. It has their gates in registers, fetched a chunk
/// ahead, and turns the tiles of q and k into what the chain multiplies; what scores are made of goes to
/// tiles of its own, so that no number is read twice. Then the ten blocks of scores are multiplied by
/// warps, one or two each.
template <bool reads>
class DecayedChunks {
 public:
  static constexpr int threads = 2 * warpgroup_size;
  static constexpr int rows_at_once = 4;

  /// A block of 16 tokens; eight rows lie in all banks.
  using Rows = Bfloat[channel_decays::rows_per_block][channel_decays::channels + 8];

  /// What scores are made of.
  struct Room {
    Rows q[reads ? 5 : 0];      // q^, and e^{A_3 - A_2} q^ of block 3
    Rows k[reads ? 4 : 0];      // k- of blocks 0 to 2, and e^{A_2 - A_1} k- of block 0
    Rows k_own[reads ? 4 : 0];  // e^{A_I - A_{I+1}} k-
    channel_decays::Logs logs[2];
  };

  __device__ DecayedChunks(const TokenChunks& of, Room& room, int head) : of_(of), room_(room), head_(head) {}

  /// Fetches gates and strengths of the chunk from a token on; the other calls use them up.
  __device__ void fetch(std::int64_t token) {
    const Gates gates = this->gates(token);
    unrolled<channel_decays::rows_per_block>([&](int i) { g_[i] = gates.at(i); });
    next_beta_ = strength(token);
  }

  /// Turns q into e^G q, and k into e^{G_64 - G} k; total: e^{G_64}. Fetches the gates from token `next` on.
  __device__ void fade(int chunk, Tile* q, Tile* k, float* total, std::int64_t next) {
    using namespace channel_decays;
    Logs& logs = room_.logs[chunk % 2];
    beta_ = next_beta_;
    next_beta_ = strength(next);
    float2 own = {};
#pragma unroll
    for (float2& g : g_) {
      g = {bounded_gate(g.x), bounded_gate(g.y)};
      own = sum(own, g);
    }
    two_of(logs, block_, channel_) = own;
    meet(1, threads);
    const Ends end = ends(logs, block_, channel_);
    if (block_ == 0) reinterpret_cast<float2&>(total[channel_]) = end.all;
    const float2 inverse = {own.x < least_log ? 0 : palimpsest::two_to(-own.x),
                            own.y < least_log ? 0 : palimpsest::two_to(-own.y)};
    const bool is_first = block_ == 0;
    const bool is_last = block_ == blocks - 1;
    const float2 far = two_to(two_of(logs, is_first ? 1 : 2, channel_));
    const Pairs tiles(reads ? q : k, block_, channel_);
    constexpr std::uint32_t to_k = reads ? 2 * tile_bytes : 0;
    const std::uint32_t to_q = shared_address(&room_.q[block_][0][channel_]);
    const std::uint32_t far_to = shared_address(is_first ? &room_.k[3][0][channel_] : &room_.q[4][0][channel_]);
    constexpr std::uint32_t to_near = offsetof(Room, k) - offsetof(Room, q);
    constexpr std::uint32_t to_own = offsetof(Room, k_own) - offsetof(Room, q);
    const Gates following = gates(next);
    float2 G = {};  // from the block's beginning
    float2 kept = {1, 1};
#pragma unroll
    for (int first = 0; first < rows_per_block; first += rows_at_once) {
      std::uint32_t queries[rows_at_once];
      float2 keys[rows_at_once];
      unrolled<rows_at_once>([&](int n) {
        if constexpr (reads) queries[n] = load_word(tiles.row(first + n));
        keys[n] = unpacked<Bfloat>(load_word(tiles.row(first + n) + to_k));
      });
      if (of_.beta.data) {
        unrolled<rows_at_once>([&](int n) {
          const float beta = __shfl_sync(all_lanes, beta_, first + n);
          keys[n] = product({beta, beta}, keys[n]);
        });
      }
#pragma unroll
      for (int n = 0; n < rows_at_once; ++n) {
        const int i = first + n;
        const auto in_row = static_cast<std::uint32_t>(i * sizeof(Rows) / rows_per_block);
        const float2 earlier = kept;
        G = sum(G, g_[i]);
        g_[i] = following.at(i);
        kept = two_to(G);
        const float2 key = product(two_to(difference(own, G)), keys[n]);
        store_word(tiles.row(i) + to_k, as_bfloats(product(end.after, key)));
        if constexpr (reads) {
          const float2 query = product(of_.reads_first ? earlier : kept, unpacked<Bfloat>(queries[n]));
          store_word(tiles.row(i), as_bfloats(product(end.before, query)));
          store_word(to_q + in_row, as_bfloats(query));
          store_word(to_q + to_own + in_row, as_bfloats(product(inverse, key)));
          store_word(to_q + to_near + in_row, as_bfloats(key), !is_last);
          store_word(far_to + in_row, as_bfloats(product(far, is_first ? key : query)), is_first || is_last);
        }
      }
    }
  }

  /// Puts the scores of the chunk from a token on into a tile, but for the blocks that no row sees, which stay
  /// as they are. q: as fade() leaves it.
  __device__ void score(int chunk, const Tile* q, Tile* scores, std::int64_t token) {
    using namespace channel_decays;
    meet(1, threads);
    const bool has_own = half_ == 0;  // the block of its own rows, and in block 3 the one before; else others
    if (!has_own && block_ == 0) return;
    const int first = has_own ? block_ : block_ == 1 ? 0 : 1;
    const int second = has_own ? 2 : 0;
    const bool has_second = has_own ? block_ == 3 : block_ >= 2;
    const auto place = [&](const Rows& rows) { return shared_address(&rows[lane_ % 16][lane_ / 16 * 8]); };
    const std::uint32_t left = place(room_.q[!has_own && block_ == 3 ? 4 : block_]);
    const std::uint32_t right = place(has_own ? room_.k_own[block_] : room_.k[first]);
    const std::uint32_t second_right = place(room_.k[has_own ? 2 : 3]);
    float P[2][8] = {};
#pragma unroll 4
    for (int step = 0; step < channels / 16; ++step) {
      const auto load = [&](std::uint32_t from) {
        return load_squares(from + static_cast<std::uint32_t>(step * 16 * sizeof(Bfloat)));
      };
      const Left rows = load(left);
      multiply_by_rows(P[0], rows, load(right));
      multiply_by_rows(P[1], rows, load(second_right));
    }
    if (has_own) {
      const Block block = {of_, head_, token + block_ * rows_per_block};
      add_strong_channels<false>(P[0], P[0], block, room_.logs[chunk % 2][block_], beta_);
    }
    put(scores, first, P[0], has_own);
    if (has_second) put(scores, second, P[1], false);
  }

 private:
  /// g of this thread in the chunk from a token on; 0 beyond the last one.
  struct Gates {
    const float* first;
    int rows;

    __device__ float2 at(int i) const {
      if (i >= rows) return {};
      return reinterpret_cast<const float2&>(first[i * channel_decays::channels]);
    }
  };

  __device__ Gates gates(std::int64_t token) const {
    token += block_ * channel_decays::rows_per_block;
    const auto rows = min(of_.T - token, std::int64_t{channel_decays::rows_per_block});
    return {of_.g.row(head_, token) + channel_, static_cast<int>(rows)};
  }

  /// beta of row lane % 16 of the block.
  __device__ float strength(std::int64_t token) const {
    const std::int64_t row = token + block_ * channel_decays::rows_per_block + lane_ % 16;
    return of_.beta.data && row < of_.T ? *of_.beta.row(head_, row) : 1;
  }

  /// A block of scores of this warp's rows; on the diagonal only those that a row sees.
  __device__ void put(Tile* scores, int column_block, const float (&P)[8], bool is_diagonal) const {
    Left block;
    unrolled<4>([&](int i) {
      const int row = lane_ / 4 + i % 2 * 8;
      const int column = lane_ % 4 * 2 + i / 2 * 8;
      const int seen = !is_diagonal ? 16 : of_.reads_first ? row : row + 1;
      block.at[i] = packed<Bfloat>(column < seen ? P[2 * i] : 0, column + 1 < seen ? P[2 * i + 1] : 0);
    });
    store(scores, block_ * channel_decays::rows_per_block, column_block * channel_decays::rows_per_block, block);
  }

  const TokenChunks& of_;
  Room& room_;
  int head_;
  int thread_ = static_cast<int>(threadIdx.x) % threads;
  int lane_ = thread_ % 32;
  int block_ = thread_ / 64;         // of 16 tokens
  int half_ = thread_ / 32 % 2;      // of the channels
  int channel_ = thread_ % 64 * 2;  // of two
  float2 g_[channel_decays::rows_per_block];
  float beta_ = 1;
  float next_beta_ = 1;
};

}  // namespace palimpsest::hopper
