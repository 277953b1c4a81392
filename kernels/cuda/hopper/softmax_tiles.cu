// Causal softmax attention on tensor cores, tile by tile. For every 128 keys, with m and l the maximum and
// the sum of every query so far:
//
//   Z = Q K^T,  m' = max(m, max_j Z_ij),  p_ij = e^{Z_ij - m'_i}
//   l = e^{m - m'} l + sum_j p_ij,        O = e^{m - m'} o O + p V;  in the end O / l
//
// For how the warpgroups of a block share this see docs/kernels.md.

#include <cmath>

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/hopper/instructions.cuh"
#include "kernels/cuda/hopper/tiles.h"

namespace palimpsest {

namespace {

using namespace hopper;

constexpr int main_warpgroups = 2;
constexpr int main_threads = main_warpgroups * warpgroup_size;
constexpr int threads = main_threads + warpgroup_size;
constexpr int queries = main_warpgroups * tile_rows;  // of a block
constexpr int keys = 2 * tile_rows;                   // of a step
constexpr int stages = 2;

/// 128 rows of 128 channels: the rows of the first 64 channels, then those of the others.
struct Square {
  Tile tiles[2][keys / tile_rows];
};

struct Shared {
  Tile q[main_warpgroups][2];  // in the end the outputs
  Square k[stages];
  Square v[stages];
  Barrier q_copied;
  Barrier k_copied[stages];
  Barrier v_copied[stages];
  Barrier k_used[stages];
  Barrier v_used[stages];
};

struct Place {
  const SoftmaxTiles& of;
  int head = static_cast<int>(blockIdx.y);
  int first_query = static_cast<int>(gridDim.x - 1 - blockIdx.x) * queries;
  int seen = static_cast<int>(of.keys - of.T) + first_query;  // keys before the first query's own
  // of 128 keys that some query of the block sees
  int steps = (min(seen + queries, static_cast<int>(of.keys)) + keys - 1) / keys;
};

__device__ void load(Square& to, const CUtensorMap& from, const Place& place, int first, Barrier& copied) {
  copied.arrive_expecting(static_cast<int>(sizeof(Square)));
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < keys / tile_rows; ++i)
      load_tile(&to.tiles[half][i], from, {half * tile_columns, first + i * tile_rows, place.head}, copied);
  }
}

__device__ void start_copies(const SoftmaxTiles& of, Shared& shared, const Place& place) {
  shared.q_copied.arrive_expecting(static_cast<int>(sizeof(shared.q)));
  for (int i = 0; i < main_warpgroups; ++i) {
    for (int half = 0; half < 2; ++half)
      load_tile(&shared.q[i][half], of.q,
                {half * tile_columns, place.first_query + i * tile_rows, place.head}, shared.q_copied);
  }
  for (int step = 0; step < place.steps; ++step) {
    const int s = step % stages;
    const std::uint32_t parity = (step / stages % 2) ^ 1;
    shared.k_used[s].wait(parity);
    load(shared.k[s], of.k, place, step * keys, shared.k_copied[s]);
    shared.v_used[s].wait(parity);
    load(shared.v[s], of.v, place, step * keys, shared.v_copied[s]);
  }
}

class Main {
 public:
  __device__ Main(const SoftmaxTiles& of, Shared& shared, const Place& place)
      : of_(of), shared_(shared), place_(place) {}

  __device__ void run() {
#pragma unroll
    for (float& element : O_.at) element = 0;
    shared_.q_copied.wait(0);
    for (int step = 0; step < place_.steps; ++step) take(step);
    write();
  }

 private:
  __device__ void take(int step) {
    const int s = step % stages;
    const std::uint32_t parity = step / stages % 2;
    Sums<keys> Z;
    shared_.k_copied[s].wait(parity);
    begin_products();
    unrolled<8>([&](int i) {
      multiply<Bfloat, Along::rows>(
          Z, along_rows(shared_.q[warpgroup_], i),
          further(tiles_for_product(&shared_.k[s].tiles[i / 4], Along::rows), Along::rows, i % 4), i > 0);
    });
    end_products();
    await_products(Z);
    shared_.k_used[s].arrive();

    const int last = place_.seen + warpgroup_ * tile_rows + row_ + lane_ / 4;  // key that the first row sees
    if ((step + 1) * keys - 1 > place_.seen + warpgroup_ * tile_rows) {
      unrolled<keys / 2>([&](int e) {
        const int key = step * keys + e / 4 * 8 + lane_ % 4 * 2 + e % 2;
        if (key > last + e / 2 % 2 * 8) Z.at[e] = -INFINITY;
      });
    }
    float kept[2];
    unrolled<2>([&](int half) {
      float largest = m_[half];
      unrolled<keys / 8>([&](int n) {
        largest = fmaxf(largest, fmaxf(Z.at[4 * n + 2 * half], Z.at[4 * n + 2 * half + 1]));
      });
      largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, 1));
      largest = fmaxf(largest, __shfl_xor_sync(0xffffffffU, largest, 2));
      kept[half] = two_to((m_[half] - largest) * log2_e);
      m_[half] = largest;
      const float subtracted = largest * log2_e;
      float sum = 0;
      unrolled<keys / 8, 2>([&](int n, int e) {
        float& element = Z.at[4 * n + 2 * half + e];
        element = two_to(fmaf(element, log2_e, -subtracted));
        sum += element;
      });
      l_[half] = kept[half] * l_[half] + sum;
    });
    Left p[keys / 16];
    unrolled<keys / 16>([&](int i) { p[i] = left_factor<Bfloat>(Z, i); });
    unrolled<64>([&](int e) { O_.at[e] *= kept[e / 2 % 2]; });

    shared_.v_copied[s].wait(parity);
    begin_products();
    unrolled<keys / 16>([&](int i) {
      multiply<Bfloat, Along::columns>(
          O_, p[i],
          further(tiles_for_product(&shared_.v[s], Along::columns, static_cast<int>(sizeof(Square) / 2)),
                  Along::columns, i));
    });
    end_products();
    await_products(O_);
    shared_.v_used[s].arrive();
  }

  __device__ void write() {
    unrolled<2>([&](int half) {
      float sum = l_[half];
      sum += __shfl_xor_sync(0xffffffffU, sum, 1);
      sum += __shfl_xor_sync(0xffffffffU, sum, 2);
      const float factor = 1 / sum;
      unrolled<16>([&](int n) {
        O_.at[4 * n + 2 * half] *= factor;
        O_.at[4 * n + 2 * half + 1] *= factor;
      });
    });
    Tile* const tiles = shared_.q[warpgroup_];  // no product reads the queries any more
    meet(1 + warpgroup_, warpgroup_size);
    unrolled<8>(
        [&](int step) { store(&tiles[step / 4], row_, step % 4 * 16, left_factor<Bfloat>(O_, step)); });
    publish_to_tensor_cores();
    meet(1 + warpgroup_, warpgroup_size);
    if (threadIdx.x % warpgroup_size != 0) return;
    for (int half = 0; half < 2; ++half)
      store_tile(of_.o, {half * tile_columns, place_.first_query + warpgroup_ * tile_rows, place_.head},
                 &tiles[half]);
    await_stored_tiles();
  }

  const SoftmaxTiles& of_;
  Shared& shared_;
  const Place& place_;
  int warpgroup_ = static_cast<int>(threadIdx.x) / warpgroup_size;
  int lane_ = static_cast<int>(threadIdx.x) % 32;
  int row_ = static_cast<int>(threadIdx.x) % warpgroup_size / 32 * 16;
  float m_[2] = {-INFINITY, -INFINITY};  // of rows row_ + lane / 4 and eight further
  float l_[2] = {};                      // what this thread has of the sums
  Sums<128> O_;
};

__global__ void __launch_bounds__(threads, 1) attend(const __grid_constant__ SoftmaxTiles of) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared*>(memory);
  if (threadIdx.x == 0) {
    shared.q_copied.initialize(1);
    for (int s = 0; s < stages; ++s) {
      shared.k_copied[s].initialize(1);
      shared.v_copied[s].initialize(1);
      shared.k_used[s].initialize(main_threads);
      shared.v_used[s].initialize(main_threads);
    }
    publish_barriers();
  }
  __syncthreads();
  const Place place{of};
  if (threadIdx.x < main_threads) {
    take_registers<240>();
    Main(of, shared, place).run();
  } else {
    keep_registers<24>();
    if (threadIdx.x == main_threads) start_copies(of, shared, place);
  }
}

}  // namespace

void softmax_on_tensor_cores(const SoftmaxTiles& tiles) {
  launch(attend, {{blocks_for(tiles.T, queries), blocks_for(tiles.heads)}, threads, sizeof(Shared)}, tiles);
}

}  // namespace palimpsest
