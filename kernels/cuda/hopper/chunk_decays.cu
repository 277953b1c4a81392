// What the chain takes of a chunk of 64 tokens with a decay of every key channel, all chunks side by side:
// queries and keys with their decays in them (channel_decays.cuh), and with erase triangular factors
// (unit_lower.cuh).
//
// First a thread takes two channels of half the tokens and multiplies q^, k^ and k- into the tiles; then a
// warp takes a block of rows and multiplies 16 x 16 blocks; at last the tiles get what is missing from A_I
// back to the chunk's beginning, or on to its end. Loops are kept short: a block runs this code only once, so
// the instructions must be loaded too.

#include "kernels/cuda/hopper/channel_decays.cuh"
#include "kernels/cuda/hopper/unit_lower.cuh"

namespace palimpsest {

namespace {

using namespace hopper;
using namespace channel_decays;

constexpr int L = tile_rows;
constexpr int steps = channels / 16;

template <bool erases>
struct Shared {
  Tile q[2];                    // q, then q^, then e^G q
  Tile k[2];                    // k, then k-, then e^{G_64 - G} k
  Tile k_read[erases ? 2 : 0];  // k^, then e^G k
  union {
    Tile scores;
    Bfloat k_far[rows_per_block][channels + 8];  // e^{A_2 - A_1} k- of block 0
  };
  Tile triangular[erases ? 1 : 0];
  unit_lower::Diagonal diagonal[erases ? unit_lower::blocks : 0];
  Logs logs;
  float beta[L];
  Barrier copied;
};

template <bool erases>
class Chunk {
 public:
  using Number = std::conditional_t<erases, Half, Bfloat>;  // of the scores

  __device__ Chunk(const TokenChunks& of, Shared<erases>& shared) : of_(of), shared_(shared) {}

  __device__ void run() {
    copy();
    const Gates first = gates(half_ * blocks / 2);
    const Gates second = gates(half_ * blocks / 2 + 1);
    fetch_strengths();
    __syncthreads();
    shared_.copied.wait(0);
    fade_within(half_ * blocks / 2, first);
    fade_within(half_ * blocks / 2 + 1, second);
    __syncthreads();
    fade_first_block();
    __syncthreads();
    float P[blocks][8] = {};
    float N[blocks][8] = {};
    multiply_blocks(P, N);
    __syncthreads();  // all blocks are read
    put_results(P, N);
#pragma unroll 1
    for (int b = 0; b < blocks / 2; ++b) fade_to_ends(half_ * blocks / 2 + b);
    publish_to_tensor_cores();
    __syncthreads();
    store_tiles();
    if constexpr (erases) {
      unit_lower::solve(shared_.diagonal[block_], shared_.beta[row_ + lane_ % rows_per_block],
                        shared_.triangular[0]);
      unit_lower::merge_blocks(shared_.triangular[0], [] {});
      publish_to_tensor_cores();
      __syncthreads();
      if (thread_ == 0) store_tile(of_.factors, place(0), &shared_.triangular[0]);
    }
    if (thread_ == 0) await_stored_tiles();
  }

 private:
  __device__ void copy() {
    if (thread_ != 0) return;
    shared_.copied.initialize(1);
    publish_barriers();
    shared_.copied.arrive_expecting(4 * tile_bytes);
    for (int i = 0; i < 2; ++i) {
      load_tile(&shared_.q[i], of_.q, place(i), shared_.copied);
      load_tile(&shared_.k[i], of_.k, place(i), shared_.copied);
    }
  }

  __device__ TilePlace place(int tile) const { return {tile * tile_columns, chunk_ * L, head_}; }

  __device__ void fetch_strengths() {
    if (thread_ >= L) return;
    const std::int64_t token = std::int64_t{chunk_} * L + thread_;
    float beta = token < of_.T ? 1 : 0;
    if (of_.beta.data && token < of_.T) beta = *of_.beta.row(head_, token);
    shared_.beta[thread_] = beta;
  }

  /// Tokens from the chunk's first on.
  __device__ int tokens() const { return static_cast<int>(of_.T - std::int64_t{chunk_} * L); }

  __device__ const float* gates_of_row(int row) const {
    return of_.g.row(head_, std::int64_t{chunk_} * L + row);
  }

  /// g of a block, of this thread's channels.
  struct Gates {
    float2 at[rows_per_block];
  };

  __device__ Gates gates(int block) const {
    const int first = block * rows_per_block;
    const int last = tokens() - 1;
    Gates gates;
    unrolled<rows_per_block>([&](int i) {
      // Beyond the end the last ones are read again: no load waits for a branch.
      gates.at[i] = reinterpret_cast<const float2&>(gates_of_row(min(first + i, last))[channel_]);
    });
    unrolled<rows_per_block>([&](int i) {
      if (first + i > last) gates.at[i] = {};
    });
    return gates;
  }

  /// This thread's two channels of a row.
  __device__ std::uint32_t& numbers(Tile* tiles, int row) const { return two_of(tiles, row, channel_); }

  static __device__ std::uint32_t times(float2 factors, std::uint32_t numbers) {
    return as_bfloats(product(factors, unpacked<Bfloat>(numbers)));
  }

  /// q^, k^ and k- of a block, of this thread's channels.
  __device__ void fade_within(int block, Gates gates) {
    const int first = block * rows_per_block;
    float2 log = {};
#pragma unroll
    for (float2& g : gates.at) {
      g = {bounded_gate(g.x), bounded_gate(g.y)};
      log = sum(log, g);
    }
    two_of(shared_.logs, block, channel_) = log;
    float2 G = {};  // from the block's beginning
    float2 kept = {1, 1};
#pragma unroll
    for (int i = 0; i < rows_per_block; ++i) {
      const int row = first + i;
      const float2 earlier = kept;
      G = sum(G, gates.at[i]);
      kept = two_to(G);
      std::uint32_t& q = numbers(shared_.q, row);
      std::uint32_t& k = numbers(shared_.k, row);
      q = times(of_.reads_first ? earlier : kept, q);
      if constexpr (erases) numbers(shared_.k_read, row) = times(kept, k);
      const float beta = erases ? 1 : shared_.beta[row];
      k = times(product({beta, beta}, two_to(difference(log, G))), k);
    }
  }

  /// k- of block 0 at the end of block 1.
  __device__ void fade_first_block() {
    const float2 factors = two_to(two_of(shared_.logs, 1, channel_));
#pragma unroll 4
    for (int row = half_; row < rows_per_block; row += 2)
      reinterpret_cast<std::uint32_t&>(shared_.k_far[row][channel_]) =
          times(factors, numbers(shared_.k, row));
  }

  /// What a block's tiles lack: from the chunk's beginning to the block's, or from its end to the chunk's.
  __device__ void fade_to_ends(int block) {
    const Ends factors = ends(shared_.logs, block, channel_);
#pragma unroll 4
    for (int i = 0; i < rows_per_block; ++i) {
      const int row = block * rows_per_block + i;
      const auto fade = [&](Tile* tiles, float2 factors) {
        std::uint32_t& both = numbers(tiles, row);
        both = times(factors, both);
      };
      fade(shared_.q, factors.before);
      fade(shared_.k, factors.after);
      if constexpr (erases) fade(shared_.k_read, factors.before);
    }
    if (block == 0) {
      float* const totals = of_.totals + (std::int64_t{blockIdx.y} * chunks_ + chunk_) * channels + channel_;
      reinterpret_cast<float2&>(*totals) = factors.all;
    }
  }

  /// Multiplies the columns of a block of fragments by factor(the logarithms of a block's decays).
  template <class Factor>
  __device__ void multiply_columns(Left& of, int block, int step, Factor factor) const {
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
      const int c = 16 * step + lane_ % 4 * 2 + i / 2 * 8;
      const float2 logs = two_of(shared_.logs, block, c);
      const float2 factors = {factor(logs.x), factor(logs.y)};
      of.at[i] = times(factors, of.at[i]);
      of.at[i + 1] = times(factors, of.at[i + 1]);
    }
  }

  /// The blocks of this warp's rows: within, then from the nearest one back.
  __device__ void multiply_blocks(float (&P)[blocks][8], float (&N)[blocks][8]) {
    const auto as_power = [](float log) { return two_to(log); };
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      Left q = load_block(shared_.q, row_, step);
      Left k = {};
      if constexpr (erases) k = load_block(shared_.k_read, row_, step);
      Left own = load_block(shared_.k, row_, step);
      multiply_columns(own, block_, step, [](float log) { return inverse_of(log); });
      multiply_by_rows(P[0], q, own);
      if constexpr (erases) multiply_by_rows(N[0], k, own);
#pragma unroll
      for (int back = 1; back < blocks; ++back) {
        const int column_block = block_ - back;
        if (column_block < 0) break;
        if (back == 2 && block_ == 3) {
          multiply_columns(q, 2, step, as_power);
          if constexpr (erases) multiply_columns(k, 2, step, as_power);
        }
        const Left right = column_block == 0 && back > 1
                               ? load_far(step)
                               : load_block(shared_.k, column_block * rows_per_block, step);
        multiply_by_rows(P[back], q, right);
        if constexpr (erases) multiply_by_rows(N[back], k, right);
      }
    }
    const Block block = {of_, head_, std::int64_t{chunk_} * L + row_};
    const float beta = shared_.beta[row_ + lane_ % rows_per_block];
    add_strong_channels<erases>(P[0], N[0], block, shared_.logs[block_], beta);
  }

  __device__ Left load_far(int step) const {
    return load_squares(shared_address(&shared_.k_far[lane_ % 16][16 * step + lane_ / 16 * 8]));
  }

  /// This warp's rows of the scores, and of the matrix whose inverse is the triangular factor.
  __device__ void put_results(const float (&P)[blocks][8], const float (&N)[blocks][8]) {
#pragma unroll
    for (int back = 0; back < blocks; ++back) {
      const int column_block = (block_ - back + blocks) % blocks;
      const bool is_before = back <= block_;
      Left scores;
      Left strengths;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = row_ + lane_ / 4 + i % 2 * 8;
        const int column = column_block * rows_per_block + lane_ % 4 * 2 + i / 2 * 8;
        float p[2];
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int j = column + e;
          p[e] = is_before && (of_.reads_first ? j < row : j <= row) ? P[back][2 * i + e] : 0;
          if (erases && back == 0)
            shared_.diagonal[block_].at[j - row_][row - row_] = shared_.beta[row] * N[0][2 * i + e];
        }
        scores.at[i] = packed<Number>(p[0], p[1]);
        strengths.at[i] = is_before ? packed<Number>(N[back][2 * i], N[back][2 * i + 1]) : 0;
      }
      store(&shared_.scores, row_, column_block * rows_per_block, scores);
      if (erases && back > 0) store(&shared_.triangular[0], row_, column_block * rows_per_block, strengths);
    }
  }

  __device__ void store_tiles() {
    if (thread_ != 0) return;
    for (int i = 0; i < 2; ++i) {
      store_tile(of_.q_read, place(i), &shared_.q[i]);
      store_tile(of_.k_write, place(i), &shared_.k[i]);
      if constexpr (erases) store_tile(of_.k_read, place(i), &shared_.k_read[i]);
    }
    store_tile(of_.scores, place(0), &shared_.scores);
  }

  const TokenChunks& of_;
  Shared<erases>& shared_;
  int thread_ = static_cast<int>(threadIdx.x);
  int lane_ = thread_ % 32;
  int block_ = thread_ / 32;                    // of 16 tokens, this warp's
  int row_ = block_ * rows_per_block;           // its first
  int channel_ = thread_ % (channels / 2) * 2;  // of two, where a thread takes channels
  int half_ = thread_ / (channels / 2);         // and of which half of the tokens
  int chunk_ = static_cast<int>(blockIdx.x);
  int chunks_ = static_cast<int>(gridDim.x);
  int head_ = static_cast<int>(blockIdx.y);
};

template <bool erases>
__global__ void __launch_bounds__(warpgroup_size, erases ? 3 : 4)
    multiply_decays(const __grid_constant__ TokenChunks of) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Chunk<erases>(of, reinterpret_cast<Shared<erases>&>(memory)).run();
}

}  // namespace

void multiply_decays_in(const TokenChunks& of) {
  const auto start = [&](auto erases) {
    constexpr std::size_t bytes = sizeof(Shared<erases>);
    static_assert(bytes <= 75 * 1024, "three blocks share a multiprocessor");
    launch(multiply_decays<erases>, {{blocks_for(of.T, L), blocks_for(of.heads)}, warpgroup_size, bytes}, of);
  };
  with_constants(start, of.erases);
}

}  // namespace palimpsest
