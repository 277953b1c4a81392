// The chain through all chunks of 32 tokens, by their tables (chunk_tables.cu). With S the state before a
// chunk, what is written and read in it, and the state after it are
//
//   W = F (V - k_read S)                        without erase: W = Diag(beta) V
//   O = q_read S + P W
//   S' = Diag(e^{G_last}) S + k_write^T W
//
// For how the warps of a block share this see docs/kernels.md.
//
// The tables take turns in shared memory: while warps compute with one, the next one arrives. A phase begins
// with a barrier, after which no warp reads the previous phase's table any more; its place is filled again.

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/tensor_float/chunks.h"
#include "kernels/cuda/tensor_float/instructions.cuh"

namespace palimpsest::tensor_float {

namespace {

constexpr int L = chunk_tokens;
constexpr int warps = 4;
constexpr int threads = 32 * warps;
constexpr int rows_of_warp = 16;  // value channels
constexpr int columns = warps * rows_of_warp;

/// Rows that pairs of numbers are read from are 8 longer than a power of two, those that single ones are read
/// from 4: then a warp's reads lie in all banks.
template <int channels, bool erases>
struct Shared {
  float q_read[L][channels + 8];
  float scores[L][L + 8];
  float k_write[L][channels + 4];
  float totals[channels];
  float k_read[erases ? L : 1][channels + 8];
  float factors[erases ? L : 1][L + 8];
};

/// sums += left right^T: `left` are sums, [16, 8 steps] and `right` is [8 tiles, 8 steps].
template <int steps, int tiles, int row>
__device__ void multiply_by_rows(float (&sums)[tiles][4], const float (&left)[steps][4],
                                 const float (&right)[8 * tiles][row], int g, int t) {
  unrolled<steps>([&](int step) {
    const Left factor = as_left(left[step]);
    unrolled<tiles>([&](int n) {
      const auto& pair = reinterpret_cast<const uint2&>(right[8 * n + g][8 * step + 2 * t]);
      multiply(sums[n], factor, pair.x, pair.y);
    });
  });
}

/// sums += left right: `left` are sums, [16, 8 steps] and `right` is [8 steps, 8 tiles].
template <int steps, int tiles, int row>
__device__ void multiply_by_columns(float (&sums)[tiles][4], const float (&left)[steps][4],
                                    const float (&right)[8 * steps][row], int g, int t) {
  unrolled<steps>([&](int step) {
    const Left factor = as_left(left[step]);
    unrolled<tiles>([&](int n) {
      const float* const two_rows = &right[8 * step + 2 * t][8 * n + g];
      multiply(sums[n], factor, __float_as_uint(two_rows[0]), __float_as_uint(two_rows[row]));
    });
  });
}

template <int channels, bool erases>
class Chain {
 public:
  __device__ Chain(const RowPrograms<float>& programs, const ChunkTables& tables,
                   Shared<channels, erases>& shared)
      : programs_(programs), tables_(tables), shared_(shared) {}

  __device__ void run() {
    load_state();
    fetch_keys(0);
    fetch_queries(0);
    float V[L / 8][4];
    load_values(V, 0);
    for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
      float W[L / 8][4] = {};
      begin_phase();
      fetch_writes(chunk);
      write(W, V);
      begin_phase();
      fetch_keys(chunk + 1);
      load_values(V, chunk + 1);
      read(W, chunk);
      begin_phase();
      fetch_queries(chunk + 1);
      update(W);
    }
    store_state();
  }

 private:
  /// The table of this phase has arrived, of the two on their way the earlier one, for all threads.
  static __device__ void begin_phase() {
    await_groups<1>();
    __syncthreads();
  }

  /// Copies a matrix of one chunk; beyond the last one there is none.
  template <int rows, int row>
  __device__ void fetch(float (&to)[rows][row], const float* all, std::int64_t chunk, int width) {
    if (chunk >= chunks_) return;
    const float* const from = all + (head_ * chunks_ + chunk) * rows * width;
    const int fours = width / 4;
    for (int e = thread_; e < rows * fours; e += threads)
      copy_four(&to[e / fours][4 * (e % fours)], from + 4 * e);
  }

  __device__ void fetch_keys(std::int64_t chunk) {
    if constexpr (erases) {
      fetch(shared_.k_read, tables_.k_read, chunk, channels);
      fetch(shared_.factors, tables_.factors, chunk, L);
    }
    close_group();
  }

  __device__ void fetch_queries(std::int64_t chunk) {
    fetch(shared_.q_read, tables_.q_read, chunk, channels);
    fetch(shared_.scores, tables_.scores, chunk, L);
    close_group();
  }

  __device__ void fetch_writes(std::int64_t chunk) {
    fetch(shared_.k_write, tables_.k_write, chunk, channels);
    fetch(reinterpret_cast<float(&)[1][channels]>(shared_.totals), tables_.totals, chunk, channels);
    close_group();
  }

  /// Value channel and token of a sum of tokens, [16, 8 n + 8].
  __device__ std::int64_t column(int e) const { return column_ + e / 2 * 8; }
  __device__ std::int64_t token(std::int64_t chunk, int n, int e) const {
    return chunk * L + 8 * n + 2 * t_ + e % 2;
  }

  /// V^T, with the strengths already where nothing is erased.
  __device__ void load_values(float (&V)[L / 8][4], std::int64_t chunk) const {
    unrolled<L / 8, 4>([&](int n, int e) {
      const std::int64_t i = token(chunk, n, e);
      V[n][e] = i < programs_.T && column(e) < programs_.V ? programs_.v.row(head_, i)[column(e)] : 0;
    });
    if (erases || !programs_.beta.data) return;
    unrolled<L / 8, 4>([&](int n, int e) {
      if (const std::int64_t i = token(chunk, n, e); i < programs_.T)
        V[n][e] *= *programs_.beta.row(head_, i);
    });
  }

  /// W^T = (V^T - S^T k_read^T) F^T.
  __device__ void write(float (&W)[L / 8][4], const float (&V)[L / 8][4]) const {
    if constexpr (erases) {
      float missing[L / 8][4] = {};
      multiply_by_rows(missing, S_, shared_.k_read, g_, t_);
      unrolled<L / 8, 4>([&](int n, int e) { missing[n][e] = V[n][e] - missing[n][e]; });
      multiply_by_rows(W, missing, shared_.factors, g_, t_);
    } else {
      unrolled<L / 8, 4>([&](int n, int e) { W[n][e] = V[n][e]; });
    }
  }

  /// O^T = S^T q_read^T + W^T P^T.
  __device__ void read(const float (&W)[L / 8][4], std::int64_t chunk) const {
    float O[L / 8][4] = {};
    multiply_by_rows(O, S_, shared_.q_read, g_, t_);
    multiply_by_rows(O, W, shared_.scores, g_, t_);
    float* const to = programs_.o.at(head_);
    unrolled<L / 8, 4>([&](int n, int e) {
      const std::int64_t i = token(chunk, n, e);
      if (i < programs_.T && column(e) < programs_.V) to[i * programs_.o.token_stride + column(e)] = O[n][e];
    });
  }

  /// S^T = S^T Diag(e^{G_last}) + W^T k_write.
  __device__ void update(const float (&W)[L / 8][4]) {
    unrolled<channels / 8, 4>([&](int n, int e) { S_[n][e] *= shared_.totals[channel(n, e)]; });
    multiply_by_columns(S_, W, shared_.k_write, g_, t_);
  }

  /// Key channel of a number of S^T.
  __device__ int channel(int n, int e) const { return 8 * n + 2 * t_ + e % 2; }

  /// Where S_cv of this head lies.
  __device__ std::int64_t in_state(int n, int e) const {
    return (head_ * programs_.K + channel(n, e)) * programs_.V + column(e);
  }

  __device__ bool is_in_state(int n, int e) const {
    return channel(n, e) < programs_.K && column(e) < programs_.V;
  }

  __device__ void load_state() {
    // There always is a state; with the test the compiler uses up to 60 registers fewer in all that follows.
    unrolled<channels / 8, 4>([&](int n, int e) {
      S_[n][e] = programs_.state && is_in_state(n, e) ? programs_.state[in_state(n, e)] : 0;
    });
  }

  __device__ void store_state() const {
    unrolled<channels / 8, 4>([&](int n, int e) {
      if (is_in_state(n, e)) programs_.state[in_state(n, e)] = S_[n][e];
    });
  }

  const RowPrograms<float>& programs_;
  const ChunkTables& tables_;
  Shared<channels, erases>& shared_;
  int thread_ = static_cast<int>(threadIdx.x);
  int g_ = thread_ % 32 / 4;  // and t_: a lane's place in a fragment
  int t_ = thread_ % 4;
  std::int64_t chunks_ = tables_.chunks;
  std::int64_t slices_ = (programs_.V + columns - 1) / columns;
  std::int64_t block_ = blockIdx.x;
  std::int64_t head_ = block_ / slices_;
  // this lane's first value channel
  std::int64_t column_ = block_ % slices_ * columns + thread_ / 32 * rows_of_warp + g_;
  float S_[channels / 8][4];
};

template <int channels, bool erases>
__global__ void __launch_bounds__(threads, 2)
    chain_of_chunks(const __grid_constant__ RowPrograms<float> programs,
                    const __grid_constant__ ChunkTables tables) {
  extern __shared__ __align__(16) unsigned char memory[];
  Chain<channels, erases>(programs, tables, reinterpret_cast<Shared<channels, erases>&>(memory)).run();
}

}  // namespace

void chain(const RowPrograms<float>& programs, const ChunkTables& tables) {
  if (programs.T == 0) return;
  const auto go_through = [&](auto is_wide, auto erases) {
    constexpr int channels = is_wide ? most_channels : most_channels / 2;
    constexpr std::size_t bytes = sizeof(Shared<channels, erases>);
    static_assert(bytes <= 99 * 1024, "compute capability 8.6 has no more");
    launch(chain_of_chunks<channels, erases>,
           {blocks_for(programs.heads * blocks_for(programs.V, columns)), threads, bytes}, programs, tables);
  };
  with_constants(go_through, padded(programs.K) == most_channels, programs.erase);
}

}  // namespace palimpsest::tensor_float
