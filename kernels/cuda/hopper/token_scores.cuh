#pragma once

#include "kernels/cuda/hopper/tiles.h"
#include "kernels/cuda/hopper/unit_lower.cuh"

// Scores of a chunk of 64 tokens with one decay per token or none, within the chain:
//
//   P_ij = e^{G_i - G_j} q_i . k_j   j <= i, times beta_j without erase; where outputs are read
//   L_ij = e^{G_i - G_j} k_i . k_j   j < i; with erase: T is made of it (unit_lower.cuh)
//
// G: running sums of g = log alpha, here to base 2. In a block of 16 x 16 below the diagonal the weight is
// taken apart at the block's first row, with A the sum before it: e^{G_i - A} e^{A - G_j}, none above 1.
// Blocks above the diagonal stay as they are in a tile. (To multiply none above it, warp by warp, took
// longer: the products of other warpgroups come first.)

namespace palimpsest::hopper {

/// What the weights of a chunk's scores are made of.
struct TokenWeights {
  float G[tile_rows];
  float beta[tile_rows];
  float of_query[tile_rows];                           // e^{G_i - A}, with the decays that the read has seen
  float of_key[tile_rows];                             // e^{G_i - A}
  float of_column[unit_lower::blocks - 1][tile_rows];  // e^{A - G_j}, by the block of rows after the first
};

/// G of the decays that token i's read has seen.
__device__ inline float read_sum(const TokenChunks& of, const float* G, int i) {
  if (!of.reads_first) return G[i];
  return i > 0 ? G[i - 1] : 0;
}

/// Makes them by two warps, of gates fetched a chunk ahead: warp 2 of a warpgroup has g of two tokens a lane,
/// warp 3 beta.
template <bool decays>
class WeightMaker {
 public:
  __device__ WeightMaker(const TokenChunks& of, int head) : of_(of), head_(head) {}

  /// Those of the chunk from a token on.
  __device__ void fetch(int token) {
    if (warp_ < 2) return;
    const DeviceRows<const float>& rows = has_beta() ? of_.beta : of_.g;
    unrolled<2>([&](int i) {
      const int own = token + 2 * lane_ + i;
      const float* const at = rows.row(head_, own);
      next_[i] = rows.data && own < of_.T ? *at : has_beta() ? 1 : 0;
    });
  }

  /// Puts what is made of those fetched, and fetches those of the chunk from token `next` on.
  __device__ void put(TokenWeights& to, int next) {
    if (has_beta()) pair(to.beta) = {next_[0], next_[1]};
    if (decays && warp_ == 2) put_decays(to);
    fetch(next);
  }

 private:
  __device__ bool has_beta() const { return warp_ == 3; }

  __device__ float2& pair(float* of_tokens) const { return reinterpret_cast<float2&>(of_tokens[2 * lane_]); }

  __device__ void put_decays(TokenWeights& to) const {
    constexpr int lanes_per_block = unit_lower::block / 2;
    const float2 G = add_up(next_[0], next_[1]);
    const auto of_lane = [](float sum, int lane) { return __shfl_sync(0xffffffff, sum, lane); };
    float A = 0;  // before the own block
    unrolled<unit_lower::blocks - 1>([&](int block) {
      const int last = lanes_per_block * (block + 1) - 1;
      const float sum = of_lane(G.y, last);
      pair(to.of_column[block]) = {two_to(sum - G.x), two_to(sum - G.y)};
      if (lane_ > last) A = sum;
    });
    const float before = __shfl_up_sync(0xffffffff, G.y, 1);
    const float2 of_key = {two_to(G.x - A), two_to(G.y - A)};
    const bool is_first = lane_ % lanes_per_block == 0;
    pair(to.G) = G;
    pair(to.of_key) = of_key;
    pair(to.of_query) = of_.reads_first ? float2{is_first ? 1 : two_to(before - A), of_key.x} : of_key;
  }

  const TokenChunks& of_;
  int head_;
  int lane_ = static_cast<int>(threadIdx.x % 32);
  int warp_ = static_cast<int>(threadIdx.x % warpgroup_size / 32);
  float next_[2] = {};
};

/// Makes the scores by a warpgroup.
template <bool reads, bool erases, bool decays>
class TokenScores {
 public:
  using Number = std::conditional_t<erases, Half, Bfloat>;  // of P and L

  struct Products {
    Sums<reads ? tile_rows : 0> of_queries;
    Sums<erases ? tile_rows : 0> of_keys;
  };

  __device__ explicit TokenScores(const TokenChunks& of) : of_(of) {}

  /// Starts to multiply.
  __device__ static void start(Products& products, const Tile* q, const Tile* k) {
    begin_products();
    unrolled<8>([&](int step) {
      const std::uint64_t keys = along_rows(k, step);
      if constexpr (erases) multiply<Bfloat, Along::rows>(products.of_keys, keys, keys, step > 0);
      if constexpr (reads)
        multiply<Bfloat, Along::rows>(products.of_queries, along_rows(q, step), keys, step > 0);
    });
    end_products();
  }

  /// Waits for all products.
  __device__ static void await(Products& products) {
    if constexpr (reads && erases)
      await_products(products.of_keys, products.of_queries);
    else if constexpr (erases)
      await_products(products.of_keys);
    else
      await_products(products.of_queries);
  }

  /// Puts L into a tile below the diagonal's blocks and, times beta_i, those elsewhere.
  __device__ void put_strengths(Sums<tile_rows>& L, const TokenWeights& weights, Tile& to,
                                Diagonal* diagonal) const {
    put_below(L, weights, weights.of_key, to);
    on_diagonal(L, [&](Block& sums) {
      const float beta[2] = {weights.beta[row(0)], weights.beta[row(1)]};
      Diagonal& own = diagonal[first_ / unit_lower::block];
      if constexpr (decays) fade(sums, weights.G, weights.G[row(0)], weights.G[row(1)]);
      each(sums, [&](float sum, int i, int j) { own.at[j][i] = beta[i / 8] * (i == j ? 1 : sum); });
    });
  }

  /// Puts P into a tile.
  __device__ void put_scores(Sums<tile_rows>& P, const TokenWeights& weights, Tile& to) const {
    put_below(P, weights, weights.of_query, to);
    on_diagonal(P, [&](Block& sums) {
      if constexpr (decays)
        fade(sums, weights.G, read_sum(of_, weights.G, row(0)), read_sum(of_, weights.G, row(1)));
      if constexpr (!erases) strengthen(sums, weights.beta + first_);
      const int seen = of_.reads_first ? 0 : 1;  // of the own token
      each(sums, [&](float& sum, int i, int j) {
        if (j >= i + seen) sum = 0;
      });
      store(&to, first_, first_, as_left<Number>(sums));
    });
  }

 private:
  using Block = float[8];  // what a thread has of one

  /// The first of this thread's rows, or the second.
  __device__ int row(int half) const { return first_ + lane_ / 4 + 8 * half; }

  __device__ void put_below(Sums<tile_rows>& sums, const TokenWeights& weights, const float* of_rows,
                            Tile& to) const {
    const float of_row[2] = {of_rows[row(0)], of_rows[row(1)]};
    const float* const table = weights.of_column[max(first_ / unit_lower::block - 1, 0)];
    unrolled<unit_lower::blocks - 1>([&](int block) {
      const int column = block * unit_lower::block;
      if (column >= first_) return;
      Block& own = reinterpret_cast<Block&>(sums.at[8 * block]);
      if constexpr (decays)
        weigh(own, table + column, [&](int half, float of_column) { return of_row[half] * of_column; });
      if constexpr (!erases) strengthen(own, weights.beta + column);
      store(&to, first_, column, as_left<Number>(own));
    });
  }

  /// Calls visit(this warp's block on the diagonal).
  template <class Visit>
  __device__ void on_diagonal(Sums<tile_rows>& sums, Visit visit) const {
    Block own;
    unrolled<8>([&](int e) {
      own[e] = sums.at[e];
      unrolled<unit_lower::blocks>([&](int block) {
        if (block * unit_lower::block == first_) own[e] = sums.at[8 * block + e];
      });
    });
    visit(own);
  }

  /// Multiplies the block on the diagonal by e^{G_i - G_j}.
  __device__ void fade(Block& sums, const float* G, float first, float second) const {
    const float G_i[2] = {first, second};
    weigh(sums, G + first_, [&](int half, float G_j) { return two_to(G_i[half] - G_j); });
  }

  /// Multiplies a block's columns by their beta.
  __device__ void strengthen(Block& sums, const float* beta) const {
    if (of_.beta.data) weigh(sums, beta, [](int, float of_column) { return of_column; });
  }

  /// Multiplies a block by weight(the first of this thread's rows or the second, the column's number).
  template <class Weight>
  __device__ void weigh(Block& sums, const float* of_columns, Weight weight) const {
    unrolled<2>([&](int n) {
      const float2 two = reinterpret_cast<const float2&>(of_columns[8 * n + lane_ % 4 * 2]);
      unrolled<2>([&](int half) {
        sums[4 * n + 2 * half] *= weight(half, two.x);
        sums[4 * n + 2 * half + 1] *= weight(half, two.y);
      });
    });
  }

  /// Calls visit(element, its row, its column).
  template <class Visit>
  __device__ void each(Block& sums, Visit visit) const {
    unrolled<8>([&](int e) { visit(sums[e], lane_ / 4 + e / 2 % 2 * 8, e / 4 * 8 + lane_ % 4 * 2 + e % 2); });
  }

  const TokenChunks& of_;
  int lane_ = static_cast<int>(threadIdx.x % 32);
  int first_ =
      unit_lower::block * __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x % warpgroup_size / 32),
                                      0);  // this warp's first row; known to be one in all lanes
};

}  // namespace palimpsest::hopper
