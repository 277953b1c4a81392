#pragma once

#include "kernels/cuda/hopper/tiles.h"
#include "kernels/cuda/hopper/unit_lower.cuh"

namespace palimpsest::hopper {

/// Scores of a chunk with one decay per token or none, by a warpgroup within the chain:
///
///   P_ij = e^{G_i - G_j} q_i . k_j   j <= i, times beta_j without erase; where outputs are read
///   L_ij = e^{G_i - G_j} k_i . k_j   j < i; with erase: T is made of it (unit_lower.cuh)
///
/// Only blocks of 16 x 16 that have such pairs get weights: those above the diagonal stay as they are in a
/// tile. (Multiplying only these, warp by warp, took longer: the products of other warpgroups come first.)
template <bool reads, bool erases, bool decays>
class TokenScores {
 public:
  using Number = std::conditional_t<erases, Half, Bfloat>;  // of P

  struct Products {
    Sums<reads ? tile_rows : 0> of_queries;
    Sums<erases ? tile_rows : 0> of_keys;
  };

  /// What their weights are made of.
  struct Gates {
    const float* G;     // running sums of log2 alpha
    const float* beta;  // of each token
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

  /// Puts P into a tile.
  __device__ void put_scores(Sums<tile_rows>& P, const Gates& gates, Tile& to) const {
    const float G[2] = {read_sum(gates.G, row(0)), read_sum(gates.G, row(1))};
    each_block(P, [&](float(&sums)[8], int column) {
      if constexpr (decays) fade(sums, G, gates.G + column);
      if (!erases && of_.beta.data)
        each(sums, [&](float& sum, int, int j) { sum *= gates.beta[column + j]; });
      if (column == first_) {
        const int seen = of_.reads_first ? 0 : 1;  // of the own token
        each(sums, [&](float& sum, int i, int j) {
          if (j >= i + seen) sum = 0;
        });
      }
      store(&to, first_, column, as_left<Number>(sums));
    });
  }

  /// Puts L into a tile and, times beta_i, the blocks on the diagonal elsewhere.
  __device__ void put_strengths(Sums<tile_rows>& L, const Gates& gates, Tile& to,
                                unit_lower::Diagonal* diagonal) const {
    const float G[2] = {gates.G[row(0)], gates.G[row(1)]};
    const float beta[2] = {gates.beta[row(0)], gates.beta[row(1)]};
    each_block(L, [&](float(&sums)[8], int column) {
      if constexpr (decays) fade(sums, G, gates.G + column);
      if (column < first_) {
        store(&to, first_, column, as_left<Half>(sums));
      } else {
        unit_lower::Diagonal& own = diagonal[first_ / unit_lower::block];
        each(sums, [&](float sum, int i, int j) { own.at[j][i] = beta[i / 8] * sum; });
      }
    });
  }

  /// G of the decays that token i's read has seen.
  __device__ float read_sum(const float* G, int i) const {
    if (!of_.reads_first) return G[i];
    return i > 0 ? G[i - 1] : 0;
  }

 private:
  /// The first of this thread's rows, or the second.
  __device__ int row(int half) const { return first_ + lane_ / 4 + 8 * half; }

  /// Calls visit(16 x 16 sums, their first column) for this warp's rows up to the diagonal.
  template <class Visit>
  __device__ void each_block(Sums<tile_rows>& sums, Visit visit) const {
    unrolled<unit_lower::blocks>([&](int block) {
      const int column = block * unit_lower::block;
      if (column <= first_) visit(reinterpret_cast<float(&)[8]>(sums.at[8 * block]), column);
    });
  }

  /// Calls visit(element, its row, its column) for those of a block that this thread has.
  template <class Visit>
  __device__ void each(float (&sums)[8], Visit visit) const {
    unrolled<8>([&](int e) { visit(sums[e], lane_ / 4 + e / 2 % 2 * 8, e / 4 * 8 + lane_ % 4 * 2 + e % 2); });
  }

  /// Multiplies by e^{G_i - G_j}, with G_i of this thread's rows and G_j of the block's columns.
  __device__ void fade(float (&sums)[8], const float (&G_i)[2], const float* G_j) const {
    unrolled<2>([&](int n) {
      const float2 two = reinterpret_cast<const float2&>(G_j[8 * n + lane_ % 4 * 2]);
      unrolled<2>([&](int half) {
        sums[4 * n + 2 * half] *= two_to(G_i[half] - two.x);
        sums[4 * n + 2 * half + 1] *= two_to(G_i[half] - two.y);
      });
    });
  }

  const TokenChunks& of_;
  int lane_ = static_cast<int>(threadIdx.x % 32);
  int first_ =
      unit_lower::block * __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x % warpgroup_size / 32),
                                      0);  // this warp's first row; known to be one in all lanes
};

}  // namespace palimpsest::hopper
