// The chunkwise, two-pass and parallel form of every row program, written to be read (spec 2.1, 2.3). The
// parallel form is one chunk that holds the whole sequence.
//
//   (I + N) U = V - (g o A) S - N+ V+
//   O = (g o Q) S + P U + P+ V+
//   S <- g_L S + (G_L o B)^T U + (G_L o K+)^T V+
//
// For what is computed for all chunks at once and what chunk by chunk see docs/kernels.md. Decays are running
// products, or sums of logarithms, from each write on: nothing is divided, so exact zeros are allowed.

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/row_kernels.h"
#include "kernels/cuda/tile_product.cuh"

namespace palimpsest {

namespace {

constexpr int warps = 4;
constexpr int threads = warps * warp_size;

/// Tiles of a block that goes from chunk to chunk: as long pieces as fit beside its other tables, since it
/// waits for each. Tiles of a block that does not, and those where a chunk has more rows than one.
template <class Scalar>
using ChainTile = Tile<Scalar, 1, 4, sizeof(Scalar) == sizeof(float) ? 32 : 16>;
template <class Scalar>
using SmallTile = Tile<Scalar, 4>;
template <class Scalar>
using LargeTile = Tile<Scalar, 4, 8>;
static_assert(LargeTile<float>::height == rows_of_channel_tile);
static_assert(rows_of_channel_tile % LargeTile<float>::columns == 0);

/// Blocks of these that a multiprocessor has registers for at the same time.
template <class Scalar>
inline constexpr int blocks_of = sizeof(Scalar) == sizeof(float) ? 2 : 1;

/// Rows of one long chunk whose writes a block finds before all blocks add up what they erase later.
constexpr std::int64_t rows_at_once = 512;

/// Calls use(tile) with one of the two last.
template <class Scalar, class Use>
void with_tile_for(std::int64_t rows, Use use) {
  if (rows > SmallTile<Scalar>::height)
    use(std::type_identity<LargeTile<Scalar>>());
  else
    use(std::type_identity<SmallTile<Scalar>>());
}

/// One chunk of one head: where its rows and tables lie.
template <class Scalar>
struct Chunk {
  const RowPrograms<Scalar>& rows;
  const Chunks<Scalar>& chunks;
  std::int64_t index;  // of the chunk among these
  std::int64_t head;
  std::int64_t first;  // its first row among all
  std::int64_t L;      // rows that it has
  std::int64_t first_read;
  std::int64_t reads;

  __device__ Chunk(const RowPrograms<Scalar>& rows_, const Chunks<Scalar>& chunks_, std::int64_t index_,
                   std::int64_t head_)
      : rows(rows_), chunks(chunks_), index(index_), head(head_) {
    first = chunks.first_row + index * chunks.L;
    L = min(chunks.L, rows.T - first);
    first_read = first / rows.rows_per_read;
    reads = max(min(chunks.reads, rows.R - first_read), std::int64_t{0});
  }

  /// Row r of the chunk in an array of rows.
  __device__ const Scalar* row(const DeviceRows<const Scalar>& array, std::int64_t r) const {
    return array.row(head, first + r);
  }

  /// Read s of the chunk in an array of reads.
  template <class Element>
  __device__ Element* read(const DeviceRows<Element>& array, std::int64_t s) const {
    return array.row(head, first_read + s);
  }

  /// The chunk's part of a table with `size` numbers for every chunk.
  __device__ Scalar* table(Scalar* tables, std::int64_t size) const {
    return tables + (head * chunks.count + index) * size;
  }

  /// After how many decays and writes of this chunk a reader reads.
  __device__ std::int64_t since(const std::int64_t* times, std::int64_t reader) const {
    return times[reader] - first;
  }

  /// How many numbers a gate has: one, or one per key channel.
  __device__ std::int64_t gates() const { return rows.decays_by_channel ? rows.K : 1; }
};

/// A running product of decays, or sum of their logarithms: none, and one more.
template <class Scalar>
__device__ Scalar undecayed(bool logs) {
  return logs ? Scalar(0) : Scalar(1);
}
template <class Scalar>
__device__ Scalar decayed(Scalar passed, Scalar gate, bool logs) {
  return logs ? passed + gate : passed * gate;
}

/// Decays from the start and to the end of the chunk, of channel d: running products, or sums.
template <class Scalar>
__device__ void fill_decays(const Chunk<Scalar>& chunk, const DeviceRows<const Scalar>& gate, bool logs,
                            std::int64_t d, std::int64_t width, Scalar* in, Scalar* out) {
  const Scalar* const gates = chunk.row(gate, 0) + d;
  // Gates are read-only: with __ldg they can be read before earlier writes are done.
  const auto gate_of = [&](std::int64_t i) { return __ldg(gates + i * gate.token_stride); };
  Scalar passed = logs ? Scalar(0) : Scalar(1);
#pragma unroll 8
  for (std::int64_t i = 0; i < chunk.L; ++i) {
    const Scalar gate_i = gate_of(i);
    passed = logs ? passed + gate_i : passed * gate_i;
    in[i * width + d] = logs ? exponential(passed) : passed;
  }
  passed = logs ? Scalar(0) : Scalar(1);
#pragma unroll 8
  for (std::int64_t j = chunk.L - 1; j >= 0; --j) {
    out[j * width + d] = logs ? exponential(passed) : passed;
    const Scalar gate_j = gate_of(j);
    passed = logs ? passed + gate_j : passed * gate_j;
  }
}

/// w <- T_r w, a write carried forward through the parts of a state.
template <class Scalar>
__device__ void move_on(const Scalar* T, std::int64_t p, Scalar (&w)[largest_part_count]) {
  Scalar moved[largest_part_count] = {};
  for (std::int64_t i = 0; i < p; ++i) {
    for (std::int64_t j = 0; j < p; ++j) moved[i] += T[i * p + j] * w[j];
  }
  for (std::int64_t i = 0; i < p; ++i) w[i] = moved[i];
}

/// h <- h^T T_r, a reader carried back to the start of the chunk.
template <class Scalar>
__device__ void move_back(const Scalar* T, std::int64_t p, Scalar (&h)[largest_part_count]) {
  Scalar moved[largest_part_count] = {};
  for (std::int64_t i = 0; i < p; ++i) {
    for (std::int64_t j = 0; j < p; ++j) moved[j] += h[i] * T[i * p + j];
  }
  for (std::int64_t i = 0; i < p; ++i) h[i] = moved[i];
}

/// h_s^T T_decays .. T_1: what a reader sees of the parts carried in.
template <class Scalar>
__device__ void fill_sight(const Chunk<Scalar>& chunk, const Scalar* sight, std::int64_t decays, Scalar* to) {
  const std::int64_t p = chunk.rows.parts;
  Scalar h[largest_part_count] = {};
  for (std::int64_t i = 0; i < p; ++i) h[i] = sight[i];
  for (std::int64_t r = decays; r-- > 0;) move_back(chunk.row(chunk.rows.transition, r), p, h);
  for (std::int64_t i = 0; i < p; ++i) to[i] = h[i];
}

/// The decays of the state through a chunk: a thread follows one channel.
template <class Scalar>
__global__ void fill_gates(const RowPrograms<Scalar> rows, const Chunks<Scalar> chunks) {
  const Chunk<Scalar> chunk{rows, chunks, blockIdx.y, blockIdx.z};
  const std::int64_t d = thread_number();
  const std::int64_t width = chunk.gates();
  if (rows.alpha.data && d < width) {
    fill_decays(chunk, rows.alpha, rows.gates_are_logs, d, width, chunk.table(chunks.g_in, chunks.L * width),
                chunk.table(chunks.g_out, chunks.L * width));
  }
  if (rows.mu.data && d < rows.V) {
    fill_decays(chunk, rows.mu, false, d, rows.V, chunk.table(chunks.m_in, chunks.L * rows.V),
                chunk.table(chunks.m_out, chunks.L * rows.V));
  }
}

/// What readers see of the parts carried in, and how writes reach those carried out: a thread follows one.
template <class Scalar>
__global__ void fill_sights(const RowPrograms<Scalar> rows, const Chunks<Scalar> chunks) {
  const Chunk<Scalar> chunk{rows, chunks, blockIdx.y, blockIdx.z};
  const std::int64_t p = rows.parts;
  const std::int64_t number = thread_number();
  if (number < chunk.reads) {
    fill_sight(chunk, chunk.read(rows.read_sight, number),
               chunk.since(rows.reads.decays, chunk.first_read + number),
               chunk.table(chunks.sight_in, chunks.reads * p) + number * p);
  }
  if (number < chunk.L) {
    if (rows.erase) {
      fill_sight(chunk, chunk.row(rows.erase_sight, number),
                 chunk.since(rows.erases.decays, chunk.first + number),
                 chunk.table(chunks.erase_sight_in, chunks.L * p) + number * p);
    }
    Scalar w[largest_part_count] = {};
    for (std::int64_t i = 0; i < p; ++i) w[i] = chunk.row(rows.inject, number)[i];
    for (std::int64_t r = number + 1; r < chunk.L; ++r) move_on(chunk.row(rows.transition, r), p, w);
    for (std::int64_t i = 0; i < p; ++i) chunk.table(chunks.weights_out, chunks.L * p)[number * p + i] = w[i];
  }
  if (number < p) {
    Scalar w[largest_part_count] = {};
    w[number] = 1;
    for (std::int64_t r = 0; r < chunk.L; ++r) move_on(chunk.row(rows.transition, r), p, w);
    for (std::int64_t i = 0; i < p; ++i) chunk.table(chunks.total, p * p)[i * p + number] = w[i];
  }
}

/// Readers of one chunk: times, and of a state in parts how much of each they see.
template <class Scalar>
struct Readers {
  ReaderTimes times;
  DeviceRows<const Scalar> sight;
  bool are_reads;  // else rows of the program
  std::int64_t of_a_chunk;

  __device__ std::int64_t first(const Chunk<Scalar>& chunk) const {
    return are_reads ? chunk.first_read : chunk.first;
  }
  __device__ std::int64_t count(const Chunk<Scalar>& chunk) const {
    return are_reads ? chunk.reads : chunk.L;
  }
  /// Their row s of `rows`: one expression, so that no load waits for a branch.
  __device__ const Scalar* row(const DeviceRows<const Scalar>& rows, const Chunk<Scalar>& chunk,
                               std::int64_t s) const {
    return rows.row(chunk.head, first(chunk) + s);
  }
};

/// W_sj: the decay of write j when reader s reads, 0 where it does not see it. One decay per row at most, or
/// parts; a thread follows write j.
template <class Scalar>
__global__ void fill_weights(const RowPrograms<Scalar> rows, const Chunks<Scalar> chunks,
                             const Readers<Scalar> readers, Scalar* weights) {
  const Chunk<Scalar> chunk{rows, chunks, blockIdx.y, blockIdx.z};
  const std::int64_t j = thread_number();
  if (j >= chunk.L) return;
  Scalar* const W = chunk.table(weights, readers.of_a_chunk * chunks.L);
  const std::int64_t p = rows.parts;
  Scalar w[largest_part_count] = {};
  Scalar fade = rows.gates_are_logs ? Scalar(0) : Scalar(1);
  for (std::int64_t i = 0; i < p && rows.has_parts; ++i) w[i] = chunk.row(rows.inject, j)[i];

  std::int64_t passed = j + 1;  // rows; the write's own decay came before it
  for (std::int64_t s = 0; s < readers.count(chunk); ++s) {
    const std::int64_t reader = readers.first(chunk) + s;
    for (; passed < chunk.since(readers.times.decays, reader); ++passed) {
      if (rows.has_parts) move_on(chunk.row(rows.transition, passed), p, w);
      if (!rows.alpha.data) continue;
      const Scalar gate = chunk.row(rows.alpha, passed)[0];
      fade = rows.gates_are_logs ? fade + gate : fade * gate;
    }
    Scalar weight = 0;
    if (j < chunk.since(readers.times.writes, reader)) {
      if (rows.has_parts) {
        const Scalar* const h = readers.row(readers.sight, chunk, s);
        for (std::int64_t i = 0; i < p; ++i) weight += h[i] * w[i];
      } else {
        weight = rows.gates_are_logs ? exponential(fade) : fade;
      }
    }
    W[s * chunks.L + j] = weight;
  }
}

/// Z_sj = W_sj x_s^T y_j replaces W; y_j is multiplied by beta_j where strengths are given. A block makes a
/// tile.
template <class Scalar, class Tile>
__global__ void __launch_bounds__(Tile::threads, blocks_of<Scalar>)
    multiply_products(const RowPrograms<Scalar> rows, const Chunks<Scalar> chunks,
                      const Readers<Scalar> readers, const DeviceRows<const Scalar> x,
                      const DeviceRows<const Scalar> y, const DeviceRows<const Scalar> beta, Scalar* scores) {
  __shared__ typename Tile::Room room;
  const Chunk<Scalar> chunk{rows, chunks, blockIdx.y, blockIdx.z};
  const std::int64_t tiles_along = Tile::tiles_along(chunks.L);
  const std::int64_t first_s = blockIdx.x / tiles_along * Tile::height;
  const std::int64_t first_j = blockIdx.x % tiles_along * Tile::columns;
  const std::int64_t height = min(readers.count(chunk) - first_s, std::int64_t{Tile::height});
  if (height <= 0 || first_j >= chunk.L) return;
  const auto writes = [&](std::int64_t s) {
    return chunk.since(readers.times.writes, readers.first(chunk) + first_s + s);
  };
  if (first_j >= writes(height - 1)) return;  // nobody sees them: 0 already

  Tile products(room, height, chunk.L - first_j);
  products.template add<Neighbours::along_the_sum, Neighbours::along_the_sum>(
      rows.K, [&](int s, std::int64_t d) { return readers.row(x, chunk, first_s + s)[d]; },
      [&](std::int64_t d, int j) {
        const Scalar strength = beta.data ? chunk.row(beta, first_j + j)[0] : Scalar(1);
        return strength * chunk.row(y, first_j + j)[d];
      });
  Scalar* const Z = chunk.table(scores, readers.of_a_chunk * chunks.L);
  products.each([&](int s, int j, Scalar product) {
    if (first_j + j < writes(s)) Z[(first_s + s) * chunks.L + first_j + j] *= product;
  });
}

/// The tile of readers that has reader s, and the first of the writes that its readers add pair by pair: no
/// decay before it comes after the first of them. With one tile all writes.
template <class Scalar>
__device__ std::int64_t first_near(const Chunk<Scalar>& chunk, const Readers<Scalar>& readers,
                                   std::int64_t s) {
  if (!chunk.chunks.x_near) return 0;
  const std::int64_t first_s = s / rows_of_channel_tile * rows_of_channel_tile;
  return chunk.since(readers.times.decays, readers.first(chunk) + first_s) / rows_of_channel_tile *
         rows_of_channel_tile;
}

/// Z_sj = sum_d x_sd y_jd alpha_{j+1:s,d}, every channel with a decay of its own, for the readers that are
/// near write j: a warp follows it.
template <class Scalar>
__global__ void fill_channel_scores(const RowPrograms<Scalar> rows, const Chunks<Scalar> chunks,
                                    const Readers<Scalar> readers, const DeviceRows<const Scalar> x,
                                    const DeviceRows<const Scalar> y, const DeviceRows<const Scalar> beta,
                                    Scalar* scores) {
  extern __shared__ unsigned char shared[];
  const Chunk<Scalar> chunk{rows, chunks, blockIdx.y, blockIdx.z};
  const int lane = threadIdx.x % warp_size;
  const std::int64_t j = std::int64_t{blockIdx.x} * warps + threadIdx.x / warp_size;
  if (j >= chunk.L) return;
  Scalar* const fade = reinterpret_cast<Scalar*>(shared) + threadIdx.x / warp_size * rows.K;
  Scalar* const Z = chunk.table(scores, readers.of_a_chunk * chunks.L);
  const Scalar* const y_j = chunk.row(y, j);
  const Scalar strength = beta.data ? chunk.row(beta, j)[0] : Scalar(1);
  const bool logs = rows.gates_are_logs;
  for (std::int64_t d = lane; d < rows.K; d += warp_size) fade[d] = undecayed<Scalar>(logs);

  // Readers before the write do not see it.
  std::int64_t seen = 0;
  for (std::int64_t end = readers.count(chunk); seen < end;) {
    const std::int64_t middle = (seen + end) / 2;
    if (j < chunk.since(readers.times.writes, readers.first(chunk) + middle))
      end = middle;
    else
      seen = middle + 1;
  }
  std::int64_t passed = j + 1;
  for (std::int64_t s = seen; s < readers.count(chunk) && first_near(chunk, readers, s) <= j; ++s) {
    const std::int64_t decays = chunk.since(readers.times.decays, readers.first(chunk) + s);
    const Scalar* const x_s = readers.row(x, chunk, s);
    Scalar sum = 0;
    const auto add = [&](auto faded) {
      struct Channel {
        Scalar fade;
        Scalar product;
      };
      few_at_once(
          lane, static_cast<int>(rows.K), warp_size,
          [&](int d) {
            const Scalar fade_d = faded(d);
            return Channel{fade_d, x_s[d] * (strength * y_j[d] * decay_of(fade_d, logs))};
          },
          [&](int d, const Channel& channel) {
            fade[d] = channel.fade;
            sum += channel.product;
          });
    };
    for (; passed + 1 < decays; ++passed) {
      const Scalar* const gate = chunk.row(rows.alpha, passed);
      for (std::int64_t d = lane; d < rows.K; d += warp_size) fade[d] = decayed(fade[d], gate[d], logs);
    }
    if (passed < decays) {
      const Scalar* const gate = chunk.row(rows.alpha, passed);
      add([&](int d) { return decayed(fade[d], gate[d], logs); });
      ++passed;
    } else {
      add([&](int d) { return fade[d]; });
    }
    sum = sum_of_lanes(sum);
    if (lane == 0) Z[s * chunks.L + j] = sum;
  }
}

/// Writes decayed to the end of their tile, y_j alpha_{j+1:end}, and the decay of the whole tile: a thread
/// follows one channel through one tile.
template <class Scalar>
__global__ void decay_writes(const RowPrograms<Scalar> rows, const Chunks<Scalar> chunks,
                             const DeviceRows<const Scalar> y, const DeviceRows<const Scalar> beta) {
  const Chunk<Scalar> chunk{rows, chunks, blockIdx.y, blockIdx.z};
  const std::int64_t tile = thread_number() / rows.K;
  const std::int64_t d = thread_number() % rows.K;
  const std::int64_t first = tile * rows_of_channel_tile;
  if (first >= chunk.L) return;
  Scalar* const y_far = chunk.table(chunks.y_far, chunks.L * rows.K);
  Scalar passed = undecayed<Scalar>(rows.gates_are_logs);
#pragma unroll 8
  for (std::int64_t j = min(first + rows_of_channel_tile, chunk.L) - 1; j >= first; --j) {
    const Scalar strength = beta.data ? chunk.row(beta, j)[0] : Scalar(1);
    y_far[j * rows.K + d] = strength * chunk.row(y, j)[d] * decay_of(passed, rows.gates_are_logs);
    passed = decayed(passed, chunk.row(rows.alpha, j)[d], rows.gates_are_logs);
  }
  chunk.table(chunks.tile_decay, chunks.channel_tiles * rows.K)[tile * rows.K + d] = passed;
}

/// Readers decayed from the first write near them on: a thread follows one channel through one tile of them.
template <class Scalar>
__global__ void decay_readers(const RowPrograms<Scalar> rows, const Chunks<Scalar> chunks,
                              const Readers<Scalar> readers, const DeviceRows<const Scalar> x) {
  const Chunk<Scalar> chunk{rows, chunks, blockIdx.y, blockIdx.z};
  const std::int64_t first = thread_number() / rows.K * rows_of_channel_tile;
  const std::int64_t d = thread_number() % rows.K;
  const std::int64_t end = min(first + rows_of_channel_tile, readers.count(chunk));
  Scalar* const x_near = chunk.table(chunks.x_near, chunks.L * rows.K);
  Scalar fade = undecayed<Scalar>(rows.gates_are_logs);
  std::int64_t passed = first < end ? first_near(chunk, readers, first) : 0;
  for (std::int64_t s = first; s < end; ++s) {
    for (; passed < chunk.since(readers.times.decays, readers.first(chunk) + s); ++passed)
      fade = decayed(fade, chunk.row(rows.alpha, passed)[d], rows.gates_are_logs);
    x_near[s * rows.K + d] = readers.row(x, chunk, s)[d] * decay_of(fade, rows.gates_are_logs);
  }
}

/// Z_sj of a tile of readers with all tiles of writes before those near it, from the last to the first: what
/// decays between both, b_d, goes with the readers, Z_sj = sum_d x_near_sd b_d y_far_jd.
template <class Scalar>
__global__ void __launch_bounds__(LargeTile<Scalar>::threads, blocks_of<Scalar>)
    multiply_channels(const RowPrograms<Scalar> rows, const Chunks<Scalar> chunks,
                      const Readers<Scalar> readers, Scalar* scores) {
  using Tile = LargeTile<Scalar>;
  __shared__ typename Tile::Room room;
  extern __shared__ unsigned char shared[];
  const std::int64_t K = rows.K;
  Scalar* const between = reinterpret_cast<Scalar*>(shared);
  Scalar* const b = between + K;
  const Chunk<Scalar> chunk{rows, chunks, blockIdx.y, blockIdx.z};
  // Those with the most writes start first.
  const std::int64_t first_s = std::int64_t{gridDim.x - 1 - blockIdx.x} * Tile::height;
  const std::int64_t height = readers.count(chunk) - first_s;
  if (height <= 0) return;
  const Scalar* const x_near = chunk.table(chunks.x_near, chunks.L * K) + first_s * K;
  Scalar* const Z = chunk.table(scores, readers.of_a_chunk * chunks.L) + first_s * chunks.L;
  const std::int64_t tiles = first_near(chunk, readers, first_s) / rows_of_channel_tile;
  for (std::int64_t tile = tiles; tile-- > 0;) {
    const Scalar* const tile_after =
        chunk.table(chunks.tile_decay, chunks.channel_tiles * K) + (tile + 1) * K;
    for (std::int64_t d = threadIdx.x; d < K; d += Tile::threads) {
      between[d] = tile + 1 < tiles ? decayed(between[d], tile_after[d], rows.gates_are_logs)
                                    : undecayed<Scalar>(rows.gates_are_logs);
      b[d] = decay_of(between[d], rows.gates_are_logs);
    }
    __syncthreads();
    for (std::int64_t first_j = tile * rows_of_channel_tile; first_j < (tile + 1) * rows_of_channel_tile;
         first_j += Tile::columns) {
      const Scalar* const y_far = chunk.table(chunks.y_far, chunks.L * K) + first_j * K;
      Tile products(room, height, Tile::columns);
      products.template add<Neighbours::along_the_sum, Neighbours::along_the_sum>(
          K, [&](int s, std::int64_t d) { return x_near[s * K + d] * b[d]; },
          [&](std::int64_t d, int j) { return y_far[j * K + d]; });
      products.each([&](int s, int j, Scalar product) {
        const std::int64_t writes = chunk.since(readers.times.writes, readers.first(chunk) + first_s + s);
        Z[s * chunks.L + first_j + j] = first_j + j < writes ? product : Scalar(0);
      });
    }
  }
}

/// After how many decays and writes of its chunk each row of a tile reads.
template <class Tile>
struct TileTimes {
  std::int64_t decays[Tile::height];
  std::int64_t writes[Tile::height];
};

/// A number for every row and column; what does not depend on one of them has a stride of 0.
template <class Scalar>
struct Factor {
  const Scalar* data;
  std::int64_t row_stride;
  std::int64_t column_stride;

  __device__ Scalar operator()(std::int64_t row, std::int64_t column) const {
    return data[row * row_stride + column * column_stride];
  }
};

// What few numbers of a tile need, or all with a decay of value channels. With a copy for each number of a
// thread this file took a minute longer to compile.

/// sum_{j < end} X_j U_j mu_{j+1 .. last}
template <class Scalar>
__device__ __noinline__ Scalar faded_sum(const Scalar* X, std::int64_t end, std::int64_t last,
                                         const Scalar* U, std::int64_t U_stride, const Scalar* mu,
                                         std::int64_t mu_stride) {
  Scalar left = 1;
  Scalar sum = 0;
  for (std::int64_t j = last; j >= end; --j) left *= mu[j * mu_stride];
#pragma unroll 8
  for (std::int64_t j = end - 1; j >= 0; --j) {
    sum += X[j] * left * U[j * U_stride];
    left *= mu[j * mu_stride];
  }
  return sum;
}

/// sum_{j < end} X_j Y_j
template <class Scalar>
__device__ __noinline__ Scalar seen_sum(const Scalar* X, std::int64_t end, const Scalar* Y,
                                        std::int64_t Y_stride) {
  Scalar sum = 0;
  for (std::int64_t j = 0; j < end; ++j) sum += X[j] * Y[j * Y_stride];
  return sum;
}

/// Some columns of one chunk of one head. All threads of the block call these.
template <class Scalar, class Tile>
struct Columns {
  const Chunk<Scalar>& chunk;
  typename Tile::Room& room;
  TileTimes<Tile>& times;
  Scalar* N_of_tile;  // [height, height] in shared memory, for those who write
  const Scalar* one;  // a 1, likewise
  std::int64_t first_column;
  const RowPrograms<Scalar>& rows = chunk.rows;
  const Chunks<Scalar>& chunks = chunk.chunks;
  std::int64_t K = rows.K;
  std::int64_t V = rows.V;
  std::int64_t L = chunks.L;
  std::int64_t count = min(V - first_column, std::int64_t{Tile::columns});  // columns

  /// An absent factor is a 1 with strides 0.
  __device__ Factor<Scalar> factor(const Scalar* data, std::int64_t row_stride,
                                   std::int64_t column_stride) const {
    return data ? Factor<Scalar>{data, row_stride, column_stride} : Factor<Scalar>{one, 0, 0};
  }
  __device__ Factor<Scalar> of_rows(const DeviceRows<const Scalar>& array, std::int64_t column_stride) const {
    return factor(array.data ? chunk.row(array, 0) : nullptr, array.token_stride, column_stride);
  }

  /// The chunk's part of a table [L, width]; absent where there is none.
  __device__ const Scalar* table(Scalar* tables, std::int64_t width) const {
    return tables ? chunk.table(tables, L * width) : nullptr;
  }

  /// Notes when the rows of the next tile read: `readers` of them, of which this is the first.
  __device__ void note(const ReaderTimes& all, std::int64_t reader, std::int64_t readers) const {
    __syncthreads();  // the tile before is done with
    for (std::int64_t m = threadIdx.x; m < readers; m += Tile::threads) {
      times.decays[m] = chunk.since(all.decays, reader + m);
      times.writes[m] = chunk.since(all.writes, reader + m);
    }
    __syncthreads();
  }

  /// D_mc += (alpha_{1:decays} o x_m)^T S_c, of a state in parts with the weights h_m of what was carried in.
  __device__ void add_carried(Tile& D, const Scalar* S, const Scalar* x, std::int64_t x_stride,
                              const Scalar* h) const {
    const std::int64_t width = chunk.gates();
    const Scalar* const g_in = rows.alpha.data ? chunk.table(chunks.g_in, L * width) : nullptr;
    const std::int64_t along = width == 1 ? 0 : 1;
    const auto decay = [&](int m, std::int64_t k) {
      const std::int64_t decays = times.decays[m];
      const Scalar g = g_in[max(decays - 1, std::int64_t{0}) * width + k * along];
      return decays > 0 ? g : Scalar(1);
    };
    const auto add = [&](std::int64_t depth, auto left) {
      D.template add<Neighbours::along_the_sum, Neighbours::across_the_sum>(
          depth, left, [&](std::int64_t j, int c) { return S[j * V + first_column + c]; });
    };
    if (h) {
      const int keys = static_cast<int>(K);
      add(rows.parts * K, [&](int m, std::int64_t j) {
        const int part = static_cast<int>(j) / keys;
        const int k = static_cast<int>(j) - part * keys;
        const Scalar x_k = h[m * rows.parts + part] * x[m * x_stride + k];
        return g_in ? decay(m, k) * x_k : x_k;
      });
    } else if (g_in) {
      add(K, [&](int m, std::int64_t k) { return decay(m, k) * x[m * x_stride + k]; });
    } else {
      add(K, [&](int m, std::int64_t k) { return x[m * x_stride + k]; });
    }
  }

  /// D_mc += sum_j X_mj Y_jc over the writes from j = begin to end - 1 that row m sees.
  __device__ void add_seen(Tile& D, std::int64_t begin, std::int64_t end, const Scalar* X, const Scalar* Y,
                           std::int64_t Y_stride) const {
    D.template add<Neighbours::along_the_sum, Neighbours::across_the_sum>(
        end - begin,
        [&](int m, std::int64_t j) {
          const Scalar X_mj = X[m * L + begin + j];
          return begin + j < times.writes[m] ? X_mj : Scalar(0);
        },
        [&](std::int64_t j, int c) { return Y[(begin + j) * Y_stride + first_column + c]; });
  }

  /// sum_{j < end} X_j U_jc mu_{j+1 .. last, c}
  __device__ Scalar faded_sum(const Scalar* X, std::int64_t end, std::int64_t last, std::int64_t c) const {
    return palimpsest::faded_sum(X, end, last, chunk.table(chunks.U, L * V) + c, V, chunk.row(rows.mu, 0) + c,
                                 rows.mu.token_stride);
  }

  /// Without erase U_i = v_i.
  __device__ void copy_values() const {
    Scalar* const U = chunk.table(chunks.U, L * V);
    for (std::int64_t place = threadIdx.x; place < chunk.L * Tile::columns; place += Tile::threads) {
      const std::int64_t i = place / Tile::columns;
      const std::int64_t c = first_column + place % Tile::columns;
      if (c < V) U[i * V + c] = rows.writes_value ? chunk.row(rows.v, i)[c] : Scalar(0);
    }
    __syncthreads();
  }

  /// U_i = sum_{j < begin} N_ij U_j for the rows of one tile.
  __device__ void erase_earlier(std::int64_t first, std::int64_t begin) const {
    const std::int64_t height = min(chunk.L - first, std::int64_t{Tile::height});
    note(rows.erases, chunk.first + first, height);
    Scalar* const U = chunk.table(chunks.U, L * V);
    Tile erased(room, height, count);
    add_seen(erased, 0, begin, chunk.table(chunks.N, L * L) + first * L, U, V);
    erased.each([&](int m, int n, Scalar sum) { U[(first + m) * V + first_column + n] = sum; });
  }

  /// U_i = R_i - sum_{j<i} N_ij U_j, R_i = v_i - a_i^T (g o S) - sum_j N+_ij v+_j for the rows from `begin`
  /// to `end` - 1; of the sum U_i holds those before `begin`.
  __device__ void write(const Scalar* S, std::int64_t begin, std::int64_t end,
                        const ChunkTap<Scalar>& tap) const {
    if (!rows.erase) return copy_values();
    Scalar* const U = chunk.table(chunks.U, L * V);
    for (std::int64_t first = begin; first < min(end, chunk.L); first += Tile::height) {
      const std::int64_t height = min(chunk.L - first, std::int64_t{Tile::height});
      note(rows.erases, chunk.first + first, height);
      Tile known(room, height, count);
      add_carried(
          known, S, chunk.row(rows.a, first), rows.a.token_stride,
          rows.has_parts ? chunk.table(chunks.erase_sight_in, L * rows.parts) + first * rows.parts : nullptr);
      if (rows.mu.data) {
        const Scalar* const m_in = chunk.table(chunks.m_in, L * V) + first * V + first_column;
        known.each([&](int m, int c, Scalar& sum) { sum *= m_in[m * V + c]; });
      }
      if (rows.k_plain.data)
        add_seen(known, 0, times.writes[height - 1], chunk.table(chunks.N_plain, L * L) + first * L,
                 chunk.row(rows.v_plain, 0), rows.v_plain.token_stride);
      known.each([&](int m, int n, Scalar sum) {
        const std::int64_t i = first + m;
        const std::int64_t c = first_column + n;
        const Scalar R = (rows.writes_value ? chunk.row(rows.v, i)[c] : Scalar(0)) - sum;
        Scalar& U_ic = U[i * V + c];
        U_ic = begin > 0 ? R - U_ic : R;
        if (tap.R) tap.R[i * V + c] = R;
      });

      // What the tiles before it wrote, from `begin` on.
      const Scalar* const N = chunk.table(chunks.N, L * L) + first * L;
      Tile erased(room, height, count);
      if (rows.mu.data) {
        erased.each([&](int m, int n, Scalar& sum) {
          sum = faded_sum(N + m * L, min(first, times.writes[m]), first + m, first_column + n);
        });
      } else {
        add_seen(erased, begin, max(begin, min(first, times.writes[height - 1])), N, U, V);
      }
      erased.each([&](int m, int n, Scalar sum) { U[(first + m) * V + first_column + n] -= sum; });
      substitute(first, static_cast<int>(height));
    }
  }

  /// U_i = R_i - sum_{first<=j<i} N_ij U_j for the rows of one tile, R in the place of U: a warp takes a few
  /// columns, a lane every 32nd row of them.
  __device__ void substitute(std::int64_t first, int height) const {
    constexpr int warps_here = Tile::threads / warp_size;
    constexpr int own_columns = Tile::columns / warps_here;
    constexpr int own_rows = Tile::height / warp_size;
    const int warp = threadIdx.x / warp_size;
    const int lane = threadIdx.x % warp_size;
    const Scalar* const N = chunk.table(chunks.N, L * L) + first * L + first;
    few_at_once(
        static_cast<int>(threadIdx.x), Tile::height * Tile::height, Tile::threads,
        [&](int place) {
          const int i = min(place / Tile::height, height - 1);
          const int j = min(place % Tile::height, height - 1);
          const Scalar N_ij = N[i * L + j];
          return j < i && first + j < times.writes[i] ? N_ij : Scalar(0);
        },
        [&](int place, Scalar N_ij) { N_of_tile[place] = N_ij; });
    __syncthreads();
    Scalar* const U = chunk.table(chunks.U, L * V) + first * V + first_column;
    Scalar R[own_columns][own_rows];
    Scalar faded[own_columns][own_rows] = {};  // U_j decayed to row i; 0 before it is known
    const auto each_own = [&](auto visit) {
#pragma unroll
      for (int n = 0; n < own_columns; ++n) {
#pragma unroll
        for (int m = 0; m < own_rows; ++m) visit(n, m, lane + m * warp_size, warp + n * warps_here);
      }
    };
    each_own(
        [&](int n, int m, int j, int c) { R[n][m] = j < height && c < count ? U[j * V + c] : Scalar(0); });
#pragma unroll 4
    for (int i = 0; i < height; ++i) {
      Scalar erased[own_columns] = {};
      each_own([&](int n, int m, int j, int c) {
        if (rows.mu.data && c < count) faded[n][m] *= chunk.row(rows.mu, first + i)[first_column + c];
        erased[n] += N_of_tile[i * Tile::height + j] * faded[n][m];
      });
#pragma unroll
      for (int n = 0; n < own_columns; ++n) erased[n] = sum_of_lanes(erased[n]);
      each_own([&](int n, int m, int j, int) {
        if (j == i) faded[n][m] = R[n][m] -= erased[n];
      });
    }
    each_own([&](int n, int m, int j, int c) {
      if (j < height && c < count) U[j * V + c] = R[n][m];
    });
    __syncthreads();
  }

  /// O_s = (g o q_s)^T S + sum_j P_sj U_j + sum_j P+_sj v+_j for the reads of one tile.
  __device__ void read(std::int64_t first, const Scalar* S, const ChunkTap<Scalar>& tap) const {
    const std::int64_t height = min(chunk.reads - first, std::int64_t{Tile::height});
    note(rows.reads, chunk.first_read + first, height);
    const std::int64_t depth = times.writes[height - 1];
    Tile inter(room, height, count);
    add_carried(inter, S, chunk.read(rows.q, first), rows.q.token_stride,
                rows.has_parts ? chunk.table(chunks.sight_in, chunks.reads * rows.parts) + first * rows.parts
                               : nullptr);
    inter.each([&](int m, int n, Scalar sum) {
      const std::int64_t writes = times.writes[m];
      const std::int64_t c = first_column + n;
      if (rows.mu.data && writes > 0) sum *= chunk.table(chunks.m_in, L * V)[(writes - 1) * V + c];
      chunk.read(rows.o, first + m)[c] = sum;
      if (tap.inter) tap.inter[(first + m) * V + c] = sum;
    });

    const Scalar* const U = chunk.table(chunks.U, L * V);
    const Scalar* const P = chunk.table(chunks.P, chunks.reads * L) + first * L;
    const Scalar* const P_plain =
        rows.k_plain.data ? chunk.table(chunks.P_plain, chunks.reads * L) + first * L : nullptr;
    const Scalar* const v_plain = P_plain ? chunk.row(rows.v_plain, 0) : nullptr;
    const auto seen_alone = [&](int m, std::int64_t c) {
      const std::int64_t end = times.writes[m];
      Scalar sum = rows.mu.data ? faded_sum(P + m * L, end, end - 1, c) : seen_sum(P + m * L, end, U + c, V);
      if (P_plain) sum += seen_sum(P_plain + m * L, end, v_plain + c, rows.v_plain.token_stride);
      return sum;
    };
    Tile intra(room, height, count);
    if (!rows.mu.data) {
      add_seen(intra, 0, depth, P, U, V);
      if (P_plain) add_seen(intra, 0, depth, P_plain, v_plain, rows.v_plain.token_stride);
    }
    intra.each([&](int m, int n, Scalar sum) {
      const std::int64_t c = first_column + n;
      // 0 times a write that a row does not see yet is NaN if the write is not finite.
      if (rows.mu.data || !isfinite(sum)) sum = seen_alone(m, c);
      chunk.read(rows.o, first + m)[c] += sum;
      if (tap.intra) tap.intra[(first + m) * V + c] = sum;
    });
  }

  /// S_k <- g_L S_k; for a state in parts, mixed by the transitions of the whole chunk.
  __device__ void let_fade(Scalar* S) const {
    if (!rows.alpha.data && !rows.mu.data && !rows.has_parts) return;
    const std::int64_t width = chunk.gates();
    const std::int64_t last = chunk.L - 1;
    const Factor<Scalar> g = factor(table(chunks.g_in, width), width, width == 1 ? 0 : 1);
    const Factor<Scalar> m = factor(table(chunks.m_in, V), V, 1);
    if (!rows.has_parts) {
      few_at_once(
          std::int64_t{threadIdx.x}, K * count, Tile::threads,
          [&](std::int64_t place) {
            const std::int64_t k = place / count;
            const std::int64_t c = first_column + place % count;
            return S[k * V + c] * g(last, k) * m(last, c);
          },
          [&](std::int64_t place, Scalar kept) {
            S[place / count * V + first_column + place % count] = kept;
          });
      __syncthreads();
      return;
    }
    const std::int64_t p = rows.parts;
    const Scalar* const total = chunk.table(chunks.total, p * p);
    for (std::int64_t place = threadIdx.x; place < K * count; place += Tile::threads) {
      const std::int64_t k = place / count;
      const std::int64_t c = first_column + place % count;
      Scalar kept[largest_part_count] = {};
      for (std::int64_t i = 0; i < p; ++i) {
        for (std::int64_t j = 0; j < p; ++j) kept[i] += total[i * p + j] * S[(j * K + k) * V + c];
        kept[i] *= g(last, k) * m(last, c);
      }
      for (std::int64_t i = 0; i < p; ++i) S[(i * K + k) * V + c] = kept[i];
    }
    __syncthreads();
  }

  /// S_k <- g_L S_k + sum_j (G_L o b_j)_k U_j + sum_j (G_L o k+_j)_k v+_j
  __device__ void carry(Scalar* S, const ChunkTap<Scalar>& tap) const {
    let_fade(S);
    const std::int64_t width = chunk.gates();
    const std::int64_t p = rows.parts;
    const Factor<Scalar> g_out = factor(table(chunks.g_out, width), width, width == 1 ? 0 : 1);
    const Factor<Scalar> m_out = factor(table(chunks.m_out, V), V, 1);
    const Factor<Scalar> weights = factor(table(chunks.weights_out, p), p, 1);
    const Factor<Scalar> beta = of_rows(rows.beta, 0);
    const Factor<Scalar> keys = of_rows(rows.k, 1);
    const Factor<Scalar> plain_keys = of_rows(rows.k_plain, 1);
    const Scalar* const U = chunk.table(chunks.U, L * V);
    for (std::int64_t i = 0; i < p; ++i) {
      for (std::int64_t first = 0; first < K; first += Tile::height) {
        Tile written(room, K - first, count);
        written.template add<Neighbours::across_the_sum, Neighbours::across_the_sum>(
            chunk.L,
            [&](int m, std::int64_t j) {
              const std::int64_t k = first + m;
              return g_out(j, k) * weights(j, i) * (beta(j, 0) * keys(j, k));
            },
            [&](std::int64_t j, int n) { return m_out(j, first_column + n) * U[j * V + first_column + n]; });
        if (rows.k_plain.data) {
          written.template add<Neighbours::across_the_sum, Neighbours::across_the_sum>(
              chunk.L, [&](int m, std::int64_t j) { return g_out(j, first + m) * plain_keys(j, first + m); },
              [&](std::int64_t j, int n) { return chunk.row(rows.v_plain, j)[first_column + n]; });
        }
        written.each([&](int m, int n, Scalar sum) {
          const std::int64_t place = (i * K + first + m) * V + first_column + n;
          S[place] += sum;
          if (tap.S_written) tap.S_written[place] = sum;
        });
      }
    }
    __syncthreads();
  }
};

template <class Scalar>
__global__ void __launch_bounds__(ChainTile<Scalar>::threads)
    chain_columns(const RowPrograms<Scalar> rows, const Chunks<Scalar> chunks, bool outputs,
                  std::int64_t begin, std::int64_t end, const ChunkTap<Scalar> tap) {
  using Tile = ChainTile<Scalar>;
  __shared__ typename Tile::Room room;
  __shared__ TileTimes<Tile> times;
  __shared__ Scalar N_of_tile[Tile::height * Tile::height];
  __shared__ Scalar one;
  if (threadIdx.x == 0) one = 1;
  __syncthreads();
  const std::int64_t first_column = std::int64_t{blockIdx.x} * Tile::columns;
  const std::int64_t state = rows.parts * rows.K * rows.V;
  Scalar* const S = rows.state + blockIdx.y * state;
  for (std::int64_t index = 0; index < chunks.count; ++index) {
    const Chunk<Scalar> chunk{rows, chunks, index, blockIdx.y};
    const Columns<Scalar, Tile> columns{chunk, room, times, N_of_tile, &one, first_column};
    if (!outputs && chunks.S_in && begin == 0) {
      Scalar* const S_in = chunk.table(chunks.S_in, state);
      for (std::int64_t place = threadIdx.x; place < rows.parts * rows.K * Tile::columns;
           place += Tile::threads) {
        const std::int64_t c = first_column + place % Tile::columns;
        const std::int64_t at = place / Tile::columns * rows.V + c;
        if (c < rows.V) S_in[at] = S[at];
      }
    }
    columns.write(S, begin, end, tap);
    if (end < chunks.L) continue;
    for (std::int64_t first = 0; outputs && first < chunk.reads; first += Tile::height)
      columns.read(first, S, tap);
    __syncthreads();  // all have read S
    columns.carry(S, tap);
  }
}

/// What the rows from `begin` on erase of writes before `begin`: a block makes a tile.
template <class Scalar>
__global__ void __launch_bounds__(SmallTile<Scalar>::threads)
    erase_earlier(const RowPrograms<Scalar> rows, const Chunks<Scalar> chunks, std::int64_t begin) {
  using Tile = SmallTile<Scalar>;
  __shared__ typename Tile::Room room;
  __shared__ TileTimes<Tile> times;
  const std::int64_t tiles_along = Tile::tiles_along(rows.V);
  const std::int64_t first = begin + blockIdx.x / tiles_along * Tile::height;
  const Chunk<Scalar> chunk{rows, chunks, 0, blockIdx.z};
  if (first >= chunk.L) return;
  const std::int64_t first_column = blockIdx.x % tiles_along * Tile::columns;
  Columns<Scalar, Tile>{chunk, room, times, nullptr, nullptr, first_column}.erase_earlier(first, begin);
}

template <class Scalar, class Tile>
__global__ void __launch_bounds__(Tile::threads, blocks_of<Scalar>)
    read_columns(const RowPrograms<Scalar> rows, const Chunks<Scalar> chunks, const ChunkTap<Scalar> tap) {
  __shared__ typename Tile::Room room;
  __shared__ TileTimes<Tile> times;
  const std::int64_t tiles_along = Tile::tiles_along(rows.V);
  const std::int64_t first = blockIdx.x / tiles_along * Tile::height;
  const Chunk<Scalar> chunk{rows, chunks, blockIdx.y, blockIdx.z};
  if (first >= chunk.reads) return;
  const std::int64_t first_column = blockIdx.x % tiles_along * Tile::columns;
  const Columns<Scalar, Tile> columns{chunk, room, times, nullptr, nullptr, first_column};
  columns.read(first, chunk.table(chunks.S_in, rows.parts * rows.K * rows.V), tap);
}

template <class Scalar>
bool each_channel_decays(const RowPrograms<Scalar>& rows) {
  return rows.decays_by_channel && rows.alpha.data;
}

/// Bytes of shared memory that a block of fill_channel_scores() takes.
template <class Scalar>
constexpr std::size_t bytes_of_fades(std::int64_t K) {
  return sizeof(Scalar) * warps * static_cast<std::size_t>(K);
}

/// Throws Unsupported where a block of the device has less.
template <class Scalar>
void require_room_for_fades(const RowPrograms<Scalar>& rows) {
  const auto most = most_shared_bytes() / static_cast<std::int64_t>(bytes_of_fades<Scalar>(1));
  if (!each_channel_decays(rows) || rows.K <= most) return;
  throw Unsupported("decays of " + std::to_string(rows.K) +
                    " key channels in chunks: the shared memory of this device has room for " +
                    std::to_string(most) + (sizeof(Scalar) == sizeof(double) ? " in f64" : " in f32"));
}

/// The same where every channel decays for itself: pairs that are near one by one, the others in tiles.
template <class Scalar>
void make_channel_scores(const RowPrograms<Scalar>& rows, const Chunks<Scalar>& chunks,
                         const Readers<Scalar>& readers, const DeviceRows<const Scalar>& x,
                         const DeviceRows<const Scalar>& y, const DeviceRows<const Scalar>& beta,
                         Scalar* scores) {
  const auto blocks = [&](unsigned of_a_chunk) {
    return dim3(of_a_chunk, blocks_for(chunks.count), blocks_for(rows.heads));
  };
  const std::int64_t numbers = rows.heads * chunks.count * readers.of_a_chunk * chunks.L;
  CHECK_CUDA(cudaMemsetAsync(scores, 0, static_cast<std::size_t>(numbers) * sizeof(Scalar), nullptr));
  launch(fill_channel_scores<Scalar>,
         {blocks(blocks_for(chunks.L, warps)), threads, bytes_of_fades<Scalar>(rows.K)}, rows, chunks,
         readers, x, y, beta, scores);
  if (!chunks.x_near) return;
  const Grid of_each_channel = {blocks(blocks_for(chunks.channel_tiles * rows.K, threads)), threads};
  launch(decay_writes<Scalar>, of_each_channel, rows, chunks, y, beta);
  launch(decay_readers<Scalar>, of_each_channel, rows, chunks, readers, x);
  using Tile = LargeTile<Scalar>;
  launch(multiply_channels<Scalar>,
         {blocks(blocks_for(readers.of_a_chunk, Tile::height)), Tile::threads,
          2 * static_cast<std::size_t>(rows.K) * sizeof(Scalar)},
         rows, chunks, readers, scores);
}

/// Scores of x with y for all these readers.
template <class Scalar>
void make_scores(const RowPrograms<Scalar>& rows, const Chunks<Scalar>& chunks,
                 const Readers<Scalar>& readers, const DeviceRows<const Scalar>& x,
                 const DeviceRows<const Scalar>& y, const DeviceRows<const Scalar>& beta, Scalar* scores) {
  if (readers.of_a_chunk == 0) return;
  const auto blocks = [&](unsigned of_a_chunk) {
    return dim3(of_a_chunk, blocks_for(chunks.count), blocks_for(rows.heads));
  };
  if (each_channel_decays(rows)) return make_channel_scores(rows, chunks, readers, x, y, beta, scores);
  launch(fill_weights<Scalar>, {blocks(blocks_for(chunks.L, threads)), threads}, rows, chunks, readers,
         scores);
  with_tile_for<Scalar>(chunks.L, [&]<class Tile>(std::type_identity<Tile>) {
    launch(multiply_products<Scalar, Tile>,
           {blocks(blocks_for(Tile::tiles(readers.of_a_chunk, chunks.L))), Tile::threads}, rows, chunks,
           readers, x, y, beta, scores);
  });
}

}  // namespace

template <class Scalar>
void Chunks<Scalar>::make_tables(const RowPrograms<Scalar>& rows) const {
  require_part_count(rows.parts);
  require_room_for_fades(rows);
  const auto launch_for = [&](auto kernel, std::int64_t numbers) {
    launch(kernel, {{blocks_for(numbers, threads), blocks_for(count), blocks_for(rows.heads)}, threads}, rows,
           *this);
  };
  const std::int64_t gates = rows.alpha.data ? (rows.decays_by_channel ? rows.K : 1) : 0;
  launch_for(fill_gates<Scalar>, std::max(gates, rows.mu.data ? rows.V : 0));
  if (rows.has_parts) launch_for(fill_sights<Scalar>, std::max(L, rows.parts));
  const Readers<Scalar> of_outputs = {rows.reads, rows.read_sight, true, reads};
  const Readers<Scalar> of_erases = {rows.erases, rows.erase_sight, false, L};
  make_scores(rows, *this, of_outputs, rows.q, rows.k, rows.beta, P);
  if (rows.erase) make_scores(rows, *this, of_erases, rows.a, rows.k, rows.beta, N);
  if (!rows.k_plain.data) return;
  make_scores(rows, *this, of_outputs, rows.q, rows.k_plain, {}, P_plain);
  if (rows.erase) make_scores(rows, *this, of_erases, rows.a, rows.k_plain, {}, N_plain);
}

template <class Scalar>
void Chunks<Scalar>::make_weights(const RowPrograms<Scalar>& rows, const ReaderTimes& readers,
                                  const DeviceRows<const Scalar>& sight, bool are_reads,
                                  Scalar* weights) const {
  launch(fill_weights<Scalar>, {{blocks_for(L, threads), blocks_for(count), blocks_for(rows.heads)}, threads},
         rows, *this, {readers, sight, are_reads, are_reads ? reads : L}, weights);
}

template <class Scalar>
void Chunks<Scalar>::chain(const RowPrograms<Scalar>& rows, bool outputs, const ChunkTap<Scalar>& tap) const {
  if (count == 0) return;
  using Tile = ChainTile<Scalar>;
  const std::int64_t at_once = count == 1 && rows.erase && !rows.mu.data ? rows_at_once : L;
  for (std::int64_t begin = 0; begin < L; begin += at_once) {
    using Earlier = SmallTile<Scalar>;
    if (begin > 0)
      launch(erase_earlier<Scalar>,
             {{blocks_for(Earlier::tiles(std::min(at_once, L - begin), rows.V)), 1, blocks_for(rows.heads)},
              Earlier::threads},
             rows, *this, begin);
    launch(chain_columns<Scalar>,
           {{blocks_for(rows.V, Tile::columns), blocks_for(rows.heads)}, Tile::threads}, rows, *this, outputs,
           begin, begin + at_once, tap);
  }
}

template <class Scalar>
void Chunks<Scalar>::read(const RowPrograms<Scalar>& rows, const ChunkTap<Scalar>& tap) const {
  with_tile_for<Scalar>(reads, [&]<class Tile>(std::type_identity<Tile>) {
    launch(
        read_columns<Scalar, Tile>,
        {{blocks_for(Tile::tiles(reads, rows.V)), blocks_for(count), blocks_for(rows.heads)}, Tile::threads},
        rows, *this, tap);
  });
}

template struct Chunks<double>;
template struct Chunks<float>;

}  // namespace palimpsest
