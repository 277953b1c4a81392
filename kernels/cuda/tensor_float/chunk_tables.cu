// Tables of chunks of 32 tokens, all chunks side by side. With G the running sums of g = log alpha from the
// chunk's first token on (0 where nothing decays):
//
//   P_ij = sum_c q_ic k_jc e^{G_ic - G_jc}, j <= i         scores; reading before the write: G_(i-1)c, j < i
//   N_ij = sum_c k_ic k_jc e^{G_ic - G_jc}, j < i
//   F = (I + Diag(beta) N)^-1 Diag(beta)                   what is written is F (V - (e^G o K) S)
//
// No exponent that is taken exceeds 0. One decay per token multiplies a finished product, a whole number at
// a time. Decays of every channel are inside the sum: between the two halves of a chunk both factors are
// taken to the edge A between them,
//
//   P_ij = sum_c (q_ic e^{G_ic - A_c}) (k_jc e^{A_c - G_jc})    i in the second half, j in the first
//
// and within a half every pair is added up by itself in f32, so that no decay is ever divided by.
//
// The triangle is solved by substitution in f32, a lane a column. What leaves is rounded to tf32 once.

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/tensor_float/chunks.h"
#include "kernels/cuda/tensor_float/instructions.cuh"

namespace palimpsest::tensor_float {

namespace {

constexpr int L = chunk_tokens;
constexpr int half_chunk = L / 2;
constexpr int threads = 128;
constexpr unsigned all_lanes = 0xffffffff;
constexpr float least_gate = -100;  // e^-100 is 0 in f32, and running sums stay finite and exact enough

/// Rows of four numbers more than a power of two: eight of them lie in all banks.
template <int channels, bool by_channel>
struct Shared {
  float q[L][channels + 4];
  float k[L][channels + 4];
  float G[L][by_channel ? channels + 4 : 4];
  float scores[L][L + 4];
  float triangle[L][L + 4];  // Diag(beta) N
  float beta[L];
};

template <int channels, bool by_channel>
class Chunk {
 public:
  __device__ Chunk(const RowPrograms<float>& programs, const ChunkTables& tables,
                   Shared<channels, by_channel>& shared)
      : programs_(programs), tables_(tables), shared_(shared) {}

  __device__ void run() {
    load();
    __syncthreads();
    add_up_gates();
    __syncthreads();
    if constexpr (by_channel) {
      multiply_between_halves();
      multiply_within_halves();
    } else {
      multiply_all();
    }
    __syncthreads();
    store_rows();
    store_scores();
    if (programs_.erase && warp_ == 0) store_factors();
  }

 private:
  __device__ bool is_token(int i) const { return first_token_ + i < programs_.T; }

  __device__ float number(const DeviceRows<const float>& rows, int i, int c) const {
    return rows.row(head_, first_token_ + i)[c];
  }

  __device__ float gate(int i, int c) const {
    if (!programs_.alpha.data) return 0;
    const float given = number(programs_.alpha, i, c);
    return fmaxf(programs_.gates_are_logs ? given : logf(given), least_gate);
  }

  __device__ void load() {
    for (int e = thread_; e < L * channels; e += threads) {
      const int i = e / channels;
      const int c = e % channels;
      const bool is_there = is_token(i) && c < programs_.K;
      shared_.q[i][c] = is_there ? number(programs_.q, i, c) : 0;
      shared_.k[i][c] = is_there ? number(programs_.k, i, c) : 0;
      if constexpr (by_channel) shared_.G[i][c] = is_there ? gate(i, c) : 0;
    }
    for (int e = thread_; e < L * L; e += threads) {
      shared_.scores[e / L][e % L] = 0;
      shared_.triangle[e / L][e % L] = 0;
    }
    if (thread_ >= L) return;
    const bool is_there = is_token(thread_);
    shared_.beta[thread_] = !is_there ? 0 : programs_.beta.data ? number(programs_.beta, thread_, 0) : 1;
    if constexpr (!by_channel) shared_.G[thread_][0] = is_there ? gate(thread_, 0) : 0;
  }

  /// G_ic = sum_{j <= i} g_jc.
  __device__ void add_up_gates() {
    if constexpr (by_channel) {
      for (int c = thread_; c < channels; c += threads) {
        for (int i = 1; i < L; ++i) shared_.G[i][c] += shared_.G[i - 1][c];
      }
    } else if (warp_ == 0) {
      float G = shared_.G[lane_][0];
      for (int distance = 1; distance < L; distance *= 2) {
        const float before = __shfl_up_sync(all_lanes, G, distance);
        if (lane_ >= distance) G += before;
      }
      shared_.G[lane_][0] = G;
    }
  }

  __device__ float G(int i, int c) const { return shared_.G[i][by_channel ? c : 0]; }

  /// G at which token i reads.
  __device__ float G_read(int i, int c) const {
    if (!programs_.reads_first) return G(i, c);
    return i > 0 ? G(i - 1, c) : 0;
  }

  __device__ bool is_read(int i, int j) const { return programs_.reads_first ? j < i : j <= i; }

  /// One decay per token: P_ij = e^{G_i - G_j} sum_c q_ic k_jc. A warp has a block of 16 x 16.
  __device__ void multiply_all() {
    const int row = warp_ / 2 * half_chunk;
    const int column = warp_ % 2 * half_chunk;
    if (column > row) return;
    float P[2][4] = {};
    float N[2][4] = {};
    for (int c = 0; c < channels; c += 8) {
      const Left q = left_of(shared_.q, row, c);
      const Left k = left_of(shared_.k, row, c);
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        const float* const right = shared_.k[column + 8 * n + g_];
        const std::uint32_t first = rounded(right[c + t_]);
        const std::uint32_t second = rounded(right[c + t_ + 4]);
        multiply(P[n], q, first, second);
        if (programs_.erase) multiply(N[n], k, first, second);
      }
    }
#pragma unroll
    for (int n = 0; n < 2; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int i = row + g_ + e / 2 * 8;
        const int j = column + 8 * n + 2 * t_ + e % 2;
        if (is_read(i, j)) shared_.scores[i][j] = P[n][e] * __expf(G_read(i, 0) - G(j, 0));
        if (j < i) shared_.triangle[i][j] = shared_.beta[i] * N[n][e] * __expf(G(i, 0) - G(j, 0));
      }
    }
  }

  /// 16 rows and 8 channels.
  __device__ Left left_of(const float (&rows)[L][channels + 4], int row, int c) const {
    const float* const upper = rows[row + g_] + c + t_;
    const float* const lower = rows[row + g_ + 8] + c + t_;
    return {rounded(upper[0]), rounded(lower[0]), rounded(upper[4]), rounded(lower[4])};
  }

  /// P_ij = sum_c (q_ic e^{G_ic - A_c}) (k_jc e^{A_c - G_jc}), i in the second half, j in the first. Two
  /// warps have 8 of the columns each.
  __device__ void multiply_between_halves() {
    if (warp_ >= 2) return;
    float P[4] = {};
    float N[4] = {};
    const int column = 8 * warp_ + g_;
    for (int c = 0; c < channels; c += 8) {
      Left q;
      Left k;
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int i = half_chunk + g_ + e % 2 * 8;
        const int channel = c + t_ + e / 2 * 4;
        const float A = G(half_chunk - 1, channel);
        q.at[e] = rounded(shared_.q[i][channel] * __expf(G_read(i, channel) - A));
        k.at[e] = rounded(shared_.k[i][channel] * __expf(G(i, channel) - A));
      }
      std::uint32_t right[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int channel = c + t_ + 4 * e;
        const float left = __expf(G(half_chunk - 1, channel) - G(column, channel));
        right[e] = rounded(shared_.k[column][channel] * left);
      }
      multiply(P, q, right[0], right[1]);
      if (programs_.erase) multiply(N, k, right[0], right[1]);
    }
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int i = half_chunk + g_ + e / 2 * 8;
      const int j = 8 * warp_ + 2 * t_ + e % 2;
      shared_.scores[i][j] = P[e];
      shared_.triangle[i][j] = shared_.beta[i] * N[e];
    }
  }

  /// P_ij = sum_c q_ic k_jc e^{G_ic - G_jc}, i and j in the same half. A thread has a pair; rows i and 15 - i
  /// of a triangle have 17 together.
  __device__ void multiply_within_halves() {
    constexpr int both_rows = half_chunk + 1;
    constexpr int pairs = half_chunk / 2 * both_rows;
    for (int pair = thread_; pair < 2 * pairs; pair += threads) {
      const int first = pair / pairs * half_chunk;
      const int row = pair % pairs / both_rows;
      const int place = pair % both_rows;
      const int i = first + (place <= row ? row : half_chunk - 1 - row);
      const int j = first + (place <= row ? place : place - row - 1);
      if (!is_read(i, j)) continue;
      float P = 0;
      float N = 0;
      const float* const G_reader = shared_.G[programs_.reads_first ? i - 1 : i];
      for (int c = 0; c < channels; c += 4) {
        const float4 q_i = four(shared_.q[i], c);
        const float4 k_i = four(shared_.k[i], c);
        const float4 k_j = four(shared_.k[j], c);
        const float4 read = four(G_reader, c);
        const float4 G_i = four(shared_.G[i], c);
        const float4 G_j = four(shared_.G[j], c);
        const auto add = [&](float of_q, float of_k, float written, float G_q, float G_k, float since) {
          P += of_q * written * __expf(G_q - since);
          if (programs_.erase) N += of_k * written * __expf(G_k - since);
        };
        add(q_i.x, k_i.x, k_j.x, read.x, G_i.x, G_j.x);
        add(q_i.y, k_i.y, k_j.y, read.y, G_i.y, G_j.y);
        add(q_i.z, k_i.z, k_j.z, read.z, G_i.z, G_j.z);
        add(q_i.w, k_i.w, k_j.w, read.w, G_i.w, G_j.w);
      }
      shared_.scores[i][j] = P;
      if (j < i) shared_.triangle[i][j] = shared_.beta[i] * N;
    }
  }

  static __device__ float4 four(const float* row, int c) { return reinterpret_cast<const float4&>(row[c]); }

  __device__ void store_rows() {
    const std::int64_t first = place_ * L * channels;
    for (int e = thread_; e < L * channels; e += threads) {
      const int i = e / channels;
      const int c = e % channels;
      const float k = shared_.k[i][c];
      tables_.q_read[first + e] = as_tf32(shared_.q[i][c] * __expf(G_read(i, c)));
      if (programs_.erase) tables_.k_read[first + e] = as_tf32(k * __expf(G(i, c)));
      tables_.k_write[first + e] = as_tf32(k * __expf(G(L - 1, c) - G(i, c)));
    }
    for (int c = thread_; c < channels; c += threads)
      tables_.totals[place_ * channels + c] = __expf(G(L - 1, c));
  }

  __device__ void store_scores() {
    for (int e = thread_; e < L * L; e += threads)
      tables_.scores[place_ * L * L + e] = as_tf32(shared_.scores[e / L][e % L]);
  }

  /// x_ij = [i = j] - sum_{j <= m < i} (beta N)_im x_mj, then times beta_j.
  __device__ void store_factors() {
    float x[L];
#pragma unroll
    for (int i = 0; i < L; ++i) {
      x[i] = lane_ == i ? 1.0F : 0.0F;
#pragma unroll
      for (int m = 0; m < i; ++m) x[i] -= shared_.triangle[i][m] * x[m];
      tables_.factors[place_ * L * L + i * L + lane_] = as_tf32(x[i] * shared_.beta[lane_]);
    }
  }

  const RowPrograms<float>& programs_;
  const ChunkTables& tables_;
  Shared<channels, by_channel>& shared_;
  int thread_ = static_cast<int>(threadIdx.x);
  int warp_ = thread_ / 32;
  int lane_ = thread_ % 32;
  int g_ = lane_ / 4;  // and t_: a lane's place in a fragment
  int t_ = lane_ % 4;
  std::int64_t place_ = blockIdx.x;  // of the chunk among all: [H, chunks]
  std::int64_t first_token_ = place_ % tables_.chunks * L;
  std::int64_t head_ = place_ / tables_.chunks;
};

template <int channels, bool by_channel>
__global__ void __launch_bounds__(threads)
    tables_of_chunks(const __grid_constant__ RowPrograms<float> programs,
                     const __grid_constant__ ChunkTables tables) {
  extern __shared__ __align__(16) unsigned char memory[];
  Chunk<channels, by_channel>(programs, tables, reinterpret_cast<Shared<channels, by_channel>&>(memory))
      .run();
}

}  // namespace

void make_tables(const RowPrograms<float>& programs, const ChunkTables& tables) {
  const auto make = [&](auto is_wide, auto by_channel) {
    constexpr int channels = is_wide ? most_channels : most_channels / 2;
    constexpr std::size_t bytes = sizeof(Shared<channels, by_channel>);
    static_assert(bytes <= 99 * 1024, "compute capability 8.6 has no more");
    launch(tables_of_chunks<channels, by_channel>,
           {blocks_for(programs.heads * tables.chunks), threads, bytes}, programs, tables);
  };
  with_constants(make, padded(programs.K) == most_channels, programs.decays_by_channel);
}

}  // namespace palimpsest::tensor_float
