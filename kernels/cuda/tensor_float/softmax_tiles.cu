// Softmax attention, 64 queries of a head in a block, a warp 16 of them. It goes through the keys 32 at a
// time and keeps for each query the largest score m so far, the sum l of the weights under it and the
// numerators Y:
//
//   X_ij = sum_c q_ic k_jc, -inf where query i does not see key j
//   m'_i = max(m_i, max_j X_ij),  E_ij = exp(X_ij - m'_i)
//   l'_i = e^{m_i - m'_i} l_i + sum_j E_ij,  Y'_i = e^{m_i - m'_i} Y_i + sum_j E_ij v_j
//   o_i = Y_i / l_i after the last key
//
// Queries stay in registers as left factors; weights leave their product in registers and are the left
// factor of the next one. l adds up the weights as they are multiplied, rounded, so that they sum to 1.

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/tensor_float/chunks.h"
#include "kernels/cuda/tensor_float/instructions.cuh"

namespace palimpsest::tensor_float {

namespace {

constexpr int keys_of_tile = 32;
constexpr int warps = 4;
constexpr int threads = 32 * warps;
constexpr int queries_of_warp = 16;
constexpr int queries_of_block = warps * queries_of_warp;
constexpr unsigned all_lanes = 0xffffffff;

/// Rows of four numbers more than a power of two: a warp's reads lie in all banks.
template <int channels>
struct Shared {
  float k[keys_of_tile][channels + 4];
  float v[keys_of_tile][channels + 4];
};

template <int channels>
class Queries {
 public:
  __device__ Queries(const Attention<float>& of, const DeviceRows<float>& o, std::int64_t blocks,
                     Shared<channels>& shared)
      : of_(of), o_(o), shared_(shared), head_(blockIdx.x / blocks) {
    const std::int64_t place = blocks - 1 - blockIdx.x % blocks;  // those that see the most keys begin
    const std::int64_t first = place * queries_of_block;
    row_ = first + thread_ / 32 * queries_of_warp + g_;
    const std::int64_t last = min(first + queries_of_block, of.queries) - 1;
    keys_ = min(of.keys, of.first_query + last + 1);
  }

  __device__ void run() {
    load_queries();
    for (std::int64_t first = 0; first < keys_; first += keys_of_tile) {
      __syncthreads();  // all have read the tile before
      load_tile(first);
      __syncthreads();
      float X[keys_of_tile / 8][4] = {};
      score(X, first);
      weigh(X);
      add_values(X);
    }
    store();
  }

 private:
  /// Row of a number of a sum: e = 2 and 3 are eight rows on.
  __device__ std::int64_t row(int e) const { return row_ + e / 2 * 8; }

  __device__ void load_queries() {
    const float* const q = of_.q.at(head_);
    unrolled<channels / 8, 4>([&](int step, int e) {
      const std::int64_t i = row_ + e % 2 * 8;
      const int c = 8 * step + t_ + e / 2 * 4;
      q_[step].at[e] = rounded(i < of_.queries && c < of_.K ? q[i * of_.q.token_stride + c] : 0.0F);
    });
  }

  __device__ void load_tile(std::int64_t first) {
    const float* const k = of_.k.at(head_);
    const float* const v = of_.v.at(head_);
#pragma unroll 4
    for (int e = thread_; e < keys_of_tile * channels; e += threads) {
      const std::int64_t j = first + e / channels;
      const int c = e % channels;
      const bool is_key = j < of_.keys;
      shared_.k[e / channels][c] = as_tf32(is_key && c < of_.K ? k[j * of_.k.token_stride + c] : 0.0F);
      shared_.v[e / channels][c] = as_tf32(is_key && c < of_.V ? v[j * of_.v.token_stride + c] : 0.0F);
    }
  }

  /// X_ij = sum_c q_ic k_jc, -inf where query i does not see key j.
  __device__ void score(float (&X)[keys_of_tile / 8][4], std::int64_t first) const {
    unrolled<channels / 8, keys_of_tile / 8>([&](int step, int n) {
      const float* const key = &shared_.k[8 * n + g_][8 * step + t_];
      multiply(X[n], q_[step], __float_as_uint(key[0]), __float_as_uint(key[4]));
    });
    unrolled<keys_of_tile / 8, 4>([&](int n, int e) {
      const std::int64_t j = first + 8 * n + 2 * t_ + e % 2;
      if (j >= of_.keys || j > of_.first_query + row(e)) X[n][e] = -INFINITY;
    });
  }

  /// X becomes E; m, l and what is in Y follow.
  __device__ void weigh(float (&X)[keys_of_tile / 8][4]) {
    unrolled<2>([&](int half) {
      float largest = m_[half];
      unrolled<keys_of_tile / 8>(
          [&](int n) { largest = fmaxf(largest, fmaxf(X[n][2 * half], X[n][2 * half + 1])); });
      for (int distance = 1; distance < 4; distance *= 2)
        largest = fmaxf(largest, __shfl_xor_sync(all_lanes, largest, distance));
      const float fade = __expf(m_[half] - largest);  // every query sees key 0: largest is a number
      m_[half] = largest;
      l_[half] *= fade;
      unrolled<keys_of_tile / 8, 2>([&](int n, int e) {
        float& weight = X[n][2 * half + e];
        weight = as_tf32(__expf(weight - largest));
        l_[half] += weight;
      });
#pragma unroll
      for (auto& sums : Y_) {
        sums[2 * half] *= fade;
        sums[2 * half + 1] *= fade;
      }
    });
  }

  /// Y_i += sum_j E_ij v_j.
  __device__ void add_values(const float (&E)[keys_of_tile / 8][4]) {
    unrolled<keys_of_tile / 8>([&](int step) {
      const Left weights = as_left(E[step]);
      unrolled<channels / 8>([&](int n) {
        const int key = 8 * step + 2 * t_;  // and the one after it, as as_left() has them
        multiply(Y_[n], weights, __float_as_uint(shared_.v[key][8 * n + g_]),
                 __float_as_uint(shared_.v[key + 1][8 * n + g_]));
      });
    });
  }

  __device__ void store() {
    for (float& sum : l_) {
      for (int distance = 1; distance < 4; distance *= 2)
        sum += __shfl_xor_sync(all_lanes, sum, distance);  // a lane has added up a quarter of the keys
    }
    float* const o = o_.at(head_);
    unrolled<channels / 8, 4>([&](int n, int e) {
      const int c = 8 * n + 2 * t_ + e % 2;
      if (row(e) < of_.queries && c < of_.V) o[row(e) * o_.token_stride + c] = Y_[n][e] / l_[e / 2];
    });
  }

  const Attention<float>& of_;
  const DeviceRows<float>& o_;
  Shared<channels>& shared_;
  int thread_ = static_cast<int>(threadIdx.x);
  int g_ = thread_ % 32 / 4;  // and t_: a lane's place in a fragment
  int t_ = thread_ % 4;
  std::int64_t head_;
  std::int64_t row_;   // this lane's first query
  std::int64_t keys_;  // that the block's last query sees
  Left q_[channels / 8];
  float Y_[channels / 8][4] = {};
  float m_[2] = {-INFINITY, -INFINITY};
  float l_[2] = {};
};

template <int channels>
__global__ void __launch_bounds__(threads)
    softmax_of_tiles(const __grid_constant__ Attention<float> attention,
                     const __grid_constant__ DeviceRows<float> o, std::int64_t blocks) {
  __shared__ Shared<channels> shared;
  Queries<channels>(attention, o, blocks, shared).run();
}

}  // namespace

void softmax(const Attention<float>& attention, const DeviceRows<float>& o) {
  const std::int64_t blocks = blocks_for(attention.queries, queries_of_block);
  const bool is_wide = padded(std::max(attention.K, attention.V)) == most_channels;
  launch(is_wide ? softmax_of_tiles<most_channels> : softmax_of_tiles<most_channels / 2>,
         {blocks_for(attention.heads * blocks), threads}, attention, o, blocks);
}

}  // namespace palimpsest::tensor_float
