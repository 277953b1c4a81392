#pragma once

#include "kernels/cuda/hopper/tiles.h"
#include "kernels/cuda/hopper/unit_lower.cuh"

namespace palimpsest::hopper {

/// T = (I + diag(beta) L)^-1 diag(beta) of chunks with one decay per token or none, L_ij = e^{G_i - G_j} k_i
/// . k_j for j < i. A warpgroup makes it within the chain, so that it is not written to memory and read
/// again.
template <bool decays>
class TriangularFactors {
 public:
  struct Room {
    unit_lower::Diagonal diagonal[unit_lower::blocks];
    float G[tile_rows];  // running sums of log2 alpha
    float beta[tile_rows];
  };

  __device__ TriangularFactors(const TokenChunks& of, Room& room, int head)
      : of_(of), room_(room), head_(head) {}

  /// Before the first chunk, which begins at a token.
  __device__ void begin(int token) {
    fetch(token);
    put_gates(token);
    unit_lower::meet_all();
  }

  /// Multiplies the keys of a chunk with each other.
  __device__ Sums<tile_rows> multiply(const Tile* k) const {
    Sums<tile_rows> products;
    begin_products();
    unrolled<8>([&](int step) {
      const std::uint64_t rows = along_rows(k, step);
      hopper::multiply<Bfloat, Along::rows>(products, rows, rows, step > 0);
    });
    end_products();
    await_products(products);
    return products;
  }

  /// Makes T of these products, in a tile that has 0 above the blocks on the diagonal. The next chunk begins
  /// at token `next`.
  __device__ void make(Sums<tile_rows> products, Tile& T, int next) {
    put(products, T);
    unit_lower::solve(room_.diagonal[warp_], room_.beta[first_ + lane_ % unit_lower::block], T);
    unit_lower::merge_blocks(T, [&] { put_gates(next); });
  }

 private:
  /// g and beta of the chunk from a token on, by warps 2 and 3.
  __device__ void fetch(int token) {
    if (warp_ < 2) return;
    const bool is_beta = warp_ == 3;
    const DeviceRows<const float>& rows = is_beta ? of_.beta : of_.g;
    unrolled<2>([&](int i) {
      const int own = token + 2 * lane_ + i;
      next_[i] = is_beta && own < of_.T ? 1 : 0;  // a token beyond the end is not written
      if (rows.data && own < of_.T) next_[i] = *rows.row(head_, own);
    });
  }

  /// Puts those that were fetched, and fetches those of the chunk after theirs, which begins at a token.
  __device__ void put_gates(int token) {
    if (decays && warp_ == 2) add_up(next_[0], next_[1], room_.G);
    if (warp_ == 3) reinterpret_cast<float2&>(room_.beta[2 * lane_]) = {next_[0], next_[1]};
    fetch(token + tile_rows);
  }

  /// This warp's 16 rows of L, below the diagonal.
  __device__ void put(Sums<tile_rows>& L, Tile& T) {
    const int row = lane_ / 4;
    float G[2];
    float beta[2];
    unrolled<2>([&](int half) {
      G[half] = decays ? room_.G[first_ + row + 8 * half] : 0;
      beta[half] = room_.beta[first_ + row + 8 * half];
    });
    unrolled<unit_lower::blocks>([&](int block) {
      if (block > warp_) return;
      if (decays) {
        unrolled<2>([&](int n) {
          const float2 G_j = reinterpret_cast<const float2&>(room_.G[16 * block + 8 * n + lane_ % 4 * 2]);
          unrolled<2>([&](int half) {
            float* const two = L.at + 8 * block + 4 * n + 2 * half;
            two[0] *= two_to(G[half] - G_j.x);
            two[1] *= two_to(G[half] - G_j.y);
          });
        });
      }
      if (block < warp_) {
        store(&T, first_, 16 * block, left_factor<Half>(L, block));
      } else {
        unrolled<8>([&](int e) {
          const int column = e / 4 * 8 + lane_ % 4 * 2 + e % 2;
          const int half = e / 2 % 2;
          room_.diagonal[warp_].at[column][row + 8 * half] = beta[half] * L.at[8 * block + e];
        });
      }
    });
  }

  const TokenChunks& of_;
  Room& room_;
  int head_;
  int lane_ = static_cast<int>(threadIdx.x % 32);
  int warp_ = __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x % warpgroup_size / 32),
                          0);              // known to be one in all lanes
  int first_ = warp_ * unit_lower::block;  // this warp's first row
  float next_[2] = {};                     // g or beta of two tokens of the next chunk
};

}  // namespace palimpsest::hopper
