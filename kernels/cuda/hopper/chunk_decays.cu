// What the chain takes of a chunk of 64 tokens with a decay of every key channel, all chunks side by side:
// queries and keys with their decays in them (channel_decays.cuh), and with erase what triangular factors are
// made of (unit_lower.cuh).
//
// A warp takes a block of 16 tokens, a lane four of its channels: it turns the tiles into q^, k^ and k-, then
// multiplies 16 x 16 blocks of its rows with its own and all before, and last multiplies in what is missing
// from A_I back to the chunk's beginning, or on to its end. Only for k- do warps wait for each other: the
// last one has most to multiply. Loops are kept short: a block runs this code only once, so the instructions
// must be loaded too.

#include "kernels/cuda/hopper/channel_decays.cuh"

namespace palimpsest {

namespace {

using namespace hopper;
using namespace channel_decays;

constexpr int L = tile_rows;
constexpr int steps = channels / 16;
constexpr int pairs = 2;                        // of channels, a thread's
constexpr int rows_at_once = 2;                 // that are loaded before earlier ones are stored
constexpr std::uint32_t to_k = 2 * tile_bytes;  // from the tiles of q
constexpr std::uint32_t to_k_read = 2 * to_k;

template <bool erases>
struct Shared {
  Tile q[2];                                   // q, then q^, then e^G q
  Tile k[2];                                   // k, then k-, then e^{G_64 - G} k
  Tile k_read[erases ? 2 : 0];                 // k^, then e^G k
  Bfloat k_far[rows_per_block][channels + 8];  // e^{A_2 - A_1} k- of block 0
  Logs logs;
  Barrier copied;
  Barrier keys_read;  // k- of all blocks is
};

template <bool erases>
class Chunk {
 public:
  using Number = std::conditional_t<erases, Half, Bfloat>;  // of the scores

  __device__ Chunk(const TokenChunks& of, Shared<erases>& shared) : of_(of), shared_(shared) {}

  __device__ void run() {
    copy();
    const Gates gates = this->gates();
    beta_ = strength();
    __syncthreads();
    shared_.copied.wait(0);
    fade_within(gates);
    __syncthreads();
    fade_first_block();
    __syncthreads();
    float P[blocks][8] = {};
    float N[blocks][8] = {};
    multiply_blocks(P, N);
    shared_.keys_read.arrive();
    put_results(P, N);
    fade_to_ends();
    publish_to_tensor_cores();
    __syncthreads();
    store_tiles();
  }

 private:
  __device__ void copy() {
    if (thread_ != 0) return;
    shared_.copied.initialize(1);
    shared_.keys_read.initialize(warpgroup_size);
    publish_barriers();
    shared_.copied.arrive_expecting(4 * tile_bytes);
    for (int i = 0; i < 2; ++i) {
      load_tile(&shared_.q[i], of_.q, place(i), shared_.copied);
      load_tile(&shared_.k[i], of_.k, place(i), shared_.copied);
    }
  }

  __device__ TilePlace place(int tile) const { return {tile * tile_columns, chunk_ * L, head_}; }

  /// beta of row lane % 16.
  __device__ float strength() const {
    const std::int64_t token = std::int64_t{chunk_} * L + row_ + lane_ % rows_per_block;
    if (token >= of_.T) return 0;
    return of_.beta.data ? *of_.beta.row(head_, token) : 1;
  }

  /// That of another row.
  __device__ float strength_of(int row) const { return __shfl_sync(all_lanes, beta_, row); }

  /// g of this thread's tokens and channels, pair by pair.
  struct Gates {
    float2 at[rows_per_block][pairs];
  };

  __device__ Gates gates() const {
    const std::int64_t first = std::int64_t{chunk_} * L + row_;
    const float* const from = of_.g.row(head_, first) + channel_;
    const auto rows = static_cast<int>(of_.T - first);
    float4 four[rows_per_block];
    // Beyond the end the last ones are read again: without a condition all are under way at once.
    unrolled<rows_per_block>(
        [&](int i) { four[i] = reinterpret_cast<const float4&>(from[min(i, rows - 1) * channels]); });
    Gates gates;
    unrolled<rows_per_block>([&](int i) {
      gates.at[i][0] = i < rows ? float2{four[i].x, four[i].y} : float2{};
      gates.at[i][1] = i < rows ? float2{four[i].z, four[i].w} : float2{};
    });
    return gates;
  }

  static __device__ std::uint32_t times(float2 factors, std::uint32_t numbers) {
    return as_bfloats(product(factors, unpacked<Bfloat>(numbers)));
  }

  static __device__ TwoWords times(const float2 (&factors)[pairs], const TwoWords& numbers) {
    return {times(factors[0], numbers.at[0]), times(factors[1], numbers.at[1])};
  }

  /// This thread's channels of a few rows.
  struct Rows {
    TwoWords q[rows_at_once], k[rows_at_once];
  };

  /// q^, k^ and k-.
  __device__ void fade_within(Gates gates) {
    float2 log[pairs] = {};
    unrolled<rows_per_block, pairs>([&](int i, int pair) {
      float2& g = gates.at[i][pair];
      g = {bounded_gate(g.x), bounded_gate(g.y)};
      log[pair] = sum(log[pair], g);
    });
    unrolled<pairs>([&](int pair) { two_of(shared_.logs, block_, channel_ + 2 * pair) = log[pair]; });
    const Pairs at(shared_.q, block_, channel_);
    const auto load = [&](int first) {
      Rows rows;
      unrolled<rows_at_once>([&](int n) {
        rows.q[n] = load_two_words(at.row(first + n));
        rows.k[n] = load_two_words(at.row(first + n) + to_k);
      });
      return rows;
    };
    Rows following = load(0);
    float2 G[pairs] = {};  // from the block's beginning
    float2 kept[pairs] = {{1, 1}, {1, 1}};
#pragma unroll
    for (int first = 0; first < rows_per_block; first += rows_at_once) {
      const Rows rows = following;
      if (first + rows_at_once < rows_per_block) following = load(first + rows_at_once);
      unrolled<rows_at_once>([&](int n) {
        const int i = first + n;
        const float beta = erases ? 1 : strength_of(i);
        float2 reads[pairs], writes[pairs];
        unrolled<pairs>([&](int pair) {
          G[pair] = sum(G[pair], gates.at[i][pair]);
          const float2 earlier = kept[pair];
          kept[pair] = two_to(G[pair]);
          reads[pair] = of_.reads_first ? earlier : kept[pair];
          writes[pair] = product({beta, beta}, two_to(difference(log[pair], G[pair])));
        });
        const std::uint32_t row = at.row(i);
        store_two_words(row, times(reads, rows.q[n]));
        store_two_words(row + to_k, times(writes, rows.k[n]));
        if constexpr (erases) store_two_words(row + to_k_read, times(kept, rows.k[n]));
      });
    }
  }

  /// k- of block 0 at the end of block 1; by each warp some rows.
  __device__ void fade_first_block() {
    float2 factors[pairs];
    unrolled<pairs>([&](int pair) { factors[pair] = two_to(two_of(shared_.logs, 1, channel_ + 2 * pair)); });
    constexpr int rows = rows_per_block / blocks;
    const Pairs at(shared_.k, 0, channel_);
    unrolled<rows>([&](int n) {
      const int i = rows * block_ + n;
      store_two_words(shared_address(&shared_.k_far[i][channel_]), times(factors, load_two_words(at.row(i))));
    });
  }

  /// What the tiles lack: from the chunk's beginning to the block's, or from its end to the chunk's.
  __device__ void fade_to_ends() {
    float2 before[pairs], after[pairs];
    unrolled<pairs>([&](int pair) {
      const int channel = channel_ + 2 * pair;
      const Ends of = ends(shared_.logs, block_, channel);
      before[pair] = of.before;
      after[pair] = of.after;
      if (block_ == 0) reinterpret_cast<float2&>(of_.totals[index_ * channels + channel]) = of.all;
    });
    if (block_ > 0) {
      fade(0, before);
      if constexpr (erases) fade(to_k_read, before);
    }
    if (block_ == blocks - 1) return;
    shared_.keys_read.wait(0);
    fade(to_k, after);
  }

  /// Multiplies this thread's numbers in two tiles, which begin so far from those of q.
  __device__ void fade(std::uint32_t offset, const float2 (&factors)[pairs]) {
    const Pairs at(shared_.q, block_, channel_);
    TwoWords words[rows_per_block];
    unrolled<rows_per_block>([&](int i) { words[i] = load_two_words(at.row(i) + offset); });
    unrolled<rows_per_block>([&](int i) { store_two_words(at.row(i) + offset, times(factors, words[i])); });
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
    const std::uint32_t corner = further(squares(shared_.q), row_, 0);
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      const std::uint32_t at = further(corner, 0, 16 * step);
      Left q = load_squares(at);
      Left k = {};
      if constexpr (erases) k = load_squares(at + to_k_read);
      Left own = load_squares(at + to_k);
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
                               : load_squares(at + to_k - back * rows_per_block * 128);
        multiply_by_rows(P[back], q, right);
        if constexpr (erases) multiply_by_rows(N[back], k, right);
      }
    }
    const Block block = {of_, head_, std::int64_t{chunk_} * L + row_};
    add_strong_channels<erases>(P[0], N[0], block, shared_.logs[block_], beta_);
  }

  __device__ Left load_far(int step) const {
    return load_squares(shared_address(&shared_.k_far[lane_ % 16][16 * step + lane_ / 16 * 8]));
  }

  /// This warp's rows of the scores, and of the matrix whose inverse is the triangular factor.
  __device__ void put_results(const float (&P)[blocks][8], const float (&N)[blocks][8]) {
    unrolled<blocks>([&](int back) {
      const int column_block = (block_ - back + blocks) % blocks;  // above the diagonal products are 0
      put(of_.scores, column_block, scores_of_block<Number>(P[back], back == 0, of_.reads_first));
      if (erases && back > 0) put(of_.strengths, column_block, as_left<Half>(N[back]));
    });
    if constexpr (erases) {
      const int row = lane_ / 4;
      const int column = lane_ % 4 * 2;
      const float beta[2] = {strength_of(row), strength_of(row + 8)};
      auto& of_columns = of_.diagonals[index_ * blocks + block_].at;
      unrolled<2, 4>([&](int half, int e) {
        const int i = row + e / 2 * 8;
        const int j = column + 8 * half + e % 2;
        of_columns[j][i] = beta[e / 2] * (i == j ? 1 : N[0][4 * half + e]);
      });
    }
  }

  /// Puts a block of this warp's rows into the chunk's tile.
  __device__ void put(Tile* tiles, int column_block, const Left& block) const {
    const std::uint32_t corner = place_in_tile(row_ + lane_ / 4, 0) + lane_ % 4 * 4;
    unrolled<4>([&](int i) {
      const std::uint32_t place =
          (corner ^ (column_block * rows_per_block * 2 + i / 2 * 16)) + i % 2 * 8 * 128;
      reinterpret_cast<std::uint32_t&>(tiles[index_].bytes[place]) = block.at[i];
    });
  }

  __device__ void store_tiles() {
    if (thread_ != 0) return;
    for (int i = 0; i < 2; ++i) {
      store_tile(of_.q_read, place(i), &shared_.q[i]);
      store_tile(of_.k_write, place(i), &shared_.k[i]);
      if constexpr (erases) store_tile(of_.k_read, place(i), &shared_.k_read[i]);
    }
    await_stored_tiles();
  }

  const TokenChunks& of_;
  Shared<erases>& shared_;
  int thread_ = static_cast<int>(threadIdx.x);
  int lane_ = thread_ % 32;
  int block_ = thread_ / 32;           // of 16 tokens, this warp's
  int row_ = block_ * rows_per_block;  // its first
  int channel_ = lane_ * 2 * pairs;    // this lane's first
  int chunk_ = static_cast<int>(blockIdx.x);
  int head_ = static_cast<int>(blockIdx.y);
  std::int64_t index_ = std::int64_t{head_} * gridDim.x + chunk_;  // of the chunk among those of all heads
  float beta_ = 0;
};

template <bool erases>
__global__ void __launch_bounds__(warpgroup_size, 4) multiply_decays(const __grid_constant__ TokenChunks of) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Chunk<erases>(of, reinterpret_cast<Shared<erases>&>(memory)).run();
}

}  // namespace

void multiply_decays_in(const TokenChunks& of) {
  const auto start = [&](auto erases) {
    constexpr std::size_t bytes = sizeof(Shared<erases>);
    static_assert(bytes <= 56 * 1024, "four blocks share a multiprocessor");
    launch(multiply_decays<erases>, {{blocks_for(of.T, L), blocks_for(of.heads)}, warpgroup_size, bytes}, of);
  };
  with_constants(start, of.erases);
}

}  // namespace palimpsest
