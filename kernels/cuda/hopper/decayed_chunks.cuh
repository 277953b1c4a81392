#pragma once

#include <cstddef>

#include "kernels/cuda/hopper/channel_decays.cuh"

namespace palimpsest::hopper::channel_decays {

/// Queries and keys of a chunk with their decays in them, and scores, made in the chain by two warpgroups, so
/// that nothing of this is written to memory and read again.
///
/// A thread takes two channels of a block of 16 tokens, with their gates in registers. It turns the tiles of
/// q and k into what the chain multiplies, and writes elsewhere what scores are made of: each number is read
/// once, and each power taken once. Then a warp multiplies one block of scores or two; one warp has none.
///
/// In milliseconds, 128 heads of 8,192 tokens: 0.81 with registers that spill to memory; 0.57 with more
/// registers, taken from the warpgroups that have S; 0.51 with no spill, and gates fetched after the last
/// row, not as each register becomes free; 0.47 with the next rows of q and k read before those at hand are
/// written; 0.44 with most gates fetched before the last rows.
template <bool reads>
class DecayedChunks {
 public:
  static constexpr int threads = 2 * warpgroup_size;
  static constexpr int idle_thread = 32;  // the first one of the warp without scores

  /// A block; eight rows lie in all banks.
  using Rows = Bfloat[rows_per_block][channels + 8];

  /// What scores are made of.
  struct Room {
    Rows q[reads ? 5 : 0];      // q^, and e^{A_3 - A_2} q^ of block 3
    Rows k[reads ? 4 : 0];      // k- of blocks 0 to 2, and e^{A_2 - A_1} k- of block 0
    Rows k_own[reads ? 4 : 0];  // e^{A_I - A_{I+1}} k-
    Logs logs[2];
  };

  __device__ DecayedChunks(const TokenChunks& of, Room& room, int head) : of_(of), room_(room), head_(head) {}

  /// Fetches what fade() needs of the chunk from a token on, besides q and k.
  __device__ void fetch(int token) {
    fetch_gates(token, 0, rows_per_block);
    fetch_strengths(token);
  }

  /// Turns q into e^G q, and k into e^{G_64 - G} k; total: e^{G_64}. Fetches for the chunk from token `next`
  /// on.
  __device__ void fade(int chunk, Tile* q, Tile* k, float* total, int next) {
    beta_ = next_beta_;
    const Factors factors = this->factors(room_.logs[chunk % 2]);
    if (block_ == 0) reinterpret_cast<float2&>(total[channel_]) = factors.ends.all;
    const Places at = places(reads ? q : k);
    Words following = load(at, 0);
    float2 G = {};  // from the block's beginning
    float2 earlier = {1, 1};
#pragma unroll
    for (int first = 0; first < rows_per_block; first += rows_at_once) {
      float2 queries[rows_at_once], keys[rows_at_once];
      unrolled<rows_at_once>([&](int n) {
        G = sum(G, g_[first + n]);
        const float2 kept = two_to(G);
        queries[n] = of_.reads_first ? earlier : kept;
        keys[n] = two_to(difference(factors.log, G));
        earlier = kept;
      });
      if (first == fetched_early) fetch_gates(next, 0, fetched_early);
      const Words words = following;
      if (first + rows_at_once < rows_per_block) following = load(at, first + rows_at_once);
      unrolled<rows_at_once>([&](int n) {
        queries[n] = product(queries[n], unpacked<Bfloat>(words.q[n]));
        keys[n] = product(keys[n], unpacked<Bfloat>(words.k[n]));
      });
      if (of_.beta.data) {
        unrolled<rows_at_once>([&](int n) {
          const float beta = __shfl_sync(all_lanes, beta_, first + n);
          keys[n] = product({beta, beta}, keys[n]);
        });
      }
      put(at, factors, first, queries, keys);
    }
    fetch_gates(next, fetched_early, rows_per_block);
    fetch_strengths(next);
  }

  /// Puts the scores of the chunk from a token on into a tile, but for the blocks that no row sees, which
  /// stay as they are.
  __device__ void score(int chunk, Tile* scores, int token) {
    meet(1, threads);
    const bool has_own = half_ == 0;  // the block of its own rows, and in block 3 the one before; else others
    if (!has_own && is_first()) return;
    const int first = has_own ? block_ : block_ == 1 ? 0 : 1;
    const int second = has_own ? 2 : 0;
    const bool has_second = has_own ? is_last() : block_ >= 2;
    float P[2][8] = {};
    multiply(P, room_.q[!has_own && is_last() ? 4 : block_], has_own ? room_.k_own[block_] : room_.k[first],
             room_.k[has_own ? 2 : 3]);
    if (has_own) {
      const Block block = {of_, head_, token + block_ * rows_per_block};
      add_strong_channels<false>(P[0], P[0], block, room_.logs[chunk % 2][block_], beta_);
    }
    put(scores, first, P[0], has_own);
    if (has_second) put(scores, second, P[1], false);
  }

 private:
  static constexpr int rows_at_once = 2;
  static constexpr int fetched_early = 10;  // rows whose next gates are fetched before the last rows are done

  /// Two channels of a few rows.
  struct Words {
    std::uint32_t q[rows_at_once], k[rows_at_once];
  };

  /// What this thread multiplies by.
  struct Factors {
    float2 log;  // of the block's decay
    Ends ends;
    float2 inverse;  // of the block's decay; 0 where it has none
    float2 far;      // e^{A_2 - A_1} in block 0, e^{A_3 - A_2} in block 3
  };

  /// Where it does.
  struct Places {
    Pairs tiles;             // q; where it is not read, k
    std::uint32_t rows;      // of room_.q
    std::uint32_t far_rows;  // of blocks 0 and 3
  };

  __device__ bool is_first() const { return block_ == 0; }
  __device__ bool is_last() const { return block_ == blocks - 1; }

  __device__ Factors factors(Logs& logs) {
    float2 log = {};
#pragma unroll
    for (float2& g : g_) {
      g = {bounded_gate(g.x), bounded_gate(g.y)};
      log = sum(log, g);
    }
    two_of(logs, block_, channel_) = log;
    meet(1, threads);
    const float2 inverse = {inverse_of(log.x), inverse_of(log.y)};
    return {log, ends(logs, block_, channel_), inverse, two_to(two_of(logs, is_first() ? 1 : 2, channel_))};
  }

  __device__ Places places(const Tile* tiles) const {
    const Rows& far = is_first() ? room_.k[3] : room_.q[4];
    return {{tiles, block_, channel_},
            shared_address(&room_.q[block_][0][channel_]),
            shared_address(&far[0][channel_])};
  }

  static __device__ Words load(const Places& at, int first) {
    Words words = {};
    unrolled<rows_at_once>([&](int n) {
      if constexpr (reads) words.q[n] = load_word(at.tiles.row(first + n));
      words.k[n] = load_word(at.tiles.row(first + n) + to_k);
    });
    return words;
  }

  /// Puts q^ and k- of a few rows, and what else is made of them, where it belongs.
  __device__ void put(const Places& at, const Factors& factors, int first, const float2* q, const float2* k) {
    constexpr std::uint32_t to_k_rows = offsetof(Room, k) - offsetof(Room, q);
    constexpr std::uint32_t to_own_rows = offsetof(Room, k_own) - offsetof(Room, q);
    const auto row = [&](int n) {
      return static_cast<std::uint32_t>((first + n) * sizeof(Rows) / rows_per_block);
    };
    unrolled<rows_at_once>([&](int n) {
      store_word(at.tiles.row(first + n) + to_k, as_bfloats(product(factors.ends.after, k[n])));
      if constexpr (reads) {
        store_word(at.tiles.row(first + n), as_bfloats(product(factors.ends.before, q[n])));
        store_word(at.rows + row(n), as_bfloats(q[n]));
        store_word(at.rows + to_own_rows + row(n), as_bfloats(product(factors.inverse, k[n])));
        store_word(at.rows + to_k_rows + row(n), as_bfloats(k[n]), !is_last());
      }
    });
    if (!reads || !(is_first() || is_last())) return;
    unrolled<rows_at_once>([&](int n) {
      store_word(at.far_rows + row(n), as_bfloats(product(factors.far, is_first() ? k[n] : q[n])));
    });
  }

  /// 16 × 16 scores with each of two blocks of keys.
  __device__ void multiply(float (&P)[2][8], const Rows& q, const Rows& k, const Rows& second_k) const {
    const std::uint32_t left = shared_address(&q[lane_ % 16][lane_ / 16 * 8]);
    const auto place = [&](const Rows& rows) {  // squares follow each other along columns
      return shared_address(&rows[lane_ % 8 + lane_ / 16 * 8][lane_ / 8 % 2 * 8]);
    };
    const std::uint32_t right[2] = {place(k), place(second_k)};
    unrolled<channels / 16>([&](int step) {
      const auto further = static_cast<std::uint32_t>(step * 16 * sizeof(Bfloat));
      const Left rows = load_squares(left + further);
      const Left columns[2] = {load_squares(right[0] + further), load_squares(right[1] + further)};
      unrolled<2, 2>([&](int which, int half) {
        multiply_squares<Bfloat>(P[which] + 4 * half, rows, columns[which].at[2 * half],
                                 columns[which].at[2 * half + 1]);
      });
    });
  }

  /// Puts a block of scores of this warp's rows.
  __device__ void put(Tile* scores, int column_block, const float (&P)[8], bool is_diagonal) const {
    store(scores, block_ * rows_per_block, column_block * rows_per_block,
          scores_of_block<Bfloat>(P, is_diagonal, of_.reads_first));
  }

  /// Gates of rows `from` to `to` - 1; 0 beyond the last token.
  __device__ void fetch_gates(int token, int from, int to) {
    token += block_ * rows_per_block;
    const float* const gates = of_.g.row(head_, token) + channel_;
    const int rows = static_cast<int>(of_.T) - token;
    unrolled<rows_per_block>([&](int i) {
      if (i >= from && i < to)
        g_[i] = i < rows ? reinterpret_cast<const float2&>(gates[i * channels]) : float2{};
    });
  }

  /// beta of row lane % 16 of the block.
  __device__ void fetch_strengths(int token) {
    token += block_ * rows_per_block + lane_ % rows_per_block;
    next_beta_ = of_.beta.data && token < of_.T ? *of_.beta.row(head_, token) : 1;
  }

  static constexpr std::uint32_t to_k = reads ? 2 * tile_bytes : 0;  // from the tiles of q

  const TokenChunks& of_;
  Room& room_;
  int head_;
  int lane_ = static_cast<int>(threadIdx.x % 32);
  int block_ = static_cast<int>(threadIdx.x % threads / 64);  // of 16 tokens
  int half_ = static_cast<int>(threadIdx.x / 32 % 2);         // of the channels
  int channel_ = static_cast<int>(threadIdx.x % 64 * 2);      // of two
  float2 g_[rows_per_block];
  float beta_ = 1;
  float next_beta_ = 1;
};

}  // namespace palimpsest::hopper::channel_decays
