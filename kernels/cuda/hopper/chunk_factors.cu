// The triangular factor of every chunk of 64 tokens, each by a warpgroup of its own:
//
//   M_ij = beta_i e^{G_i - G_j} k_i . k_j, j < i        on tensor cores
//   T    = (I + M)^-1 diag(beta)                        unit_lower.cuh

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/hopper/instructions.cuh"
#include "kernels/cuda/hopper/tiles.h"
#include "kernels/cuda/hopper/unit_lower.cuh"

namespace palimpsest {

namespace {

using namespace hopper;

constexpr int L = tile_rows;

struct Shared {
  Tile k[2];
  UnitLower matrix;
  float G[L];
  float beta[L];
  Barrier copied;
};

__global__ void __launch_bounds__(warpgroup_size) make_factors(const __grid_constant__ ChunkFactors of) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared*>(memory);
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const auto chunk = static_cast<int>(blockIdx.x);
  const auto chunks = static_cast<int>(gridDim.x);
  const auto head = static_cast<int>(blockIdx.y % of.heads);
  const auto batch = static_cast<int>(blockIdx.y / of.heads);

  if (thread == 0) {
    shared.copied.initialize(1);
    publish_barriers();
    shared.copied.arrive_expecting(2 * tile_bytes);
    load_tile(&shared.k[0], of.k, {0, chunk * L, head, batch}, shared.copied);
    load_tile(&shared.k[1], of.k, {tile_columns, chunk * L, head, batch}, shared.copied);
  }
  const auto of_token = [&](const DeviceRows<const float>& rows, int i, float absent) {
    const int token = chunk * L + i;
    return rows.data && token < of.T ? rows.at(batch, head)[token * rows.token_stride] : absent;
  };
  if (thread < 32) {
    add_up(of_token(of.g, 2 * thread, 0), of_token(of.g, 2 * thread + 1, 0), shared.G);
  } else if (thread >= L) {
    const int i = thread - L;
    shared.beta[i] = chunk * L + i < of.T ? of_token(of.beta, i, 1) : 0;
  }
  __syncthreads();
  shared.copied.wait(0);

  Sums<L> M;
  begin_products();
#pragma unroll
  for (int step = 0; step < 8; ++step) {
    const std::uint64_t k = along_rows(shared.k, step);
    multiply<Bfloat, Along::rows>(M, k, k, step > 0);
  }
  end_products();
  await_products(M);
#pragma unroll
  for (int n = 0; n < L / 8; ++n) {
#pragma unroll
    for (int e = 0; e < 4; e += 2) {
      const int i = thread / 32 * 16 + lane / 4 + e / 2 * 8;
      const int j = 8 * n + lane % 4 * 2;
      const auto element = [&](int column, float product) {
        return column < i ? shared.beta[i] * two_to(shared.G[i] - shared.G[column]) * product : 0;
      };
      put(shared.matrix, i, j, element(j, M.at[4 * n + e]), element(j + 1, M.at[4 * n + e + 1]));
    }
  }
  __syncthreads();
  invert(shared.matrix);
  write(shared.matrix, shared.beta, of.factors + (std::int64_t{blockIdx.y} * chunks + chunk) * L * L);
}

}  // namespace

void make_chunk_factors(const ChunkFactors& of) {
  launch(make_factors,
         {{blocks_for(of.T, L), blocks_for(of.batches * of.heads)}, warpgroup_size, sizeof(Shared)}, of);
}

}  // namespace palimpsest
