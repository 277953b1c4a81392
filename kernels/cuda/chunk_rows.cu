// The chunkwise, two-pass and parallel form of every row program, written to be read (spec 2.1, 2.3). The
// parallel form is one chunk that holds the whole sequence.
//
//   (I + N) U = V - (g o A) S - N+ V+
//   O = (g o Q) S + P U + P+ V+
//   S <- g_L S + (G_L o B)^T U + (G_L o K+)^T V+
//
// What the rows of a chunk see of each other (N, P, decays) does not depend on the state: it is made for many
// chunks and all heads at once. Then every column c of the state goes from chunk to chunk by itself (spec
// 1.4), one thread each. Decays are running products, or sums of logarithms, from each write on: nothing is
// divided, so exact zeros are legal.

#include <string>

#include "core/base/error.h"
#include "kernels/cuda/check.h"
#include "kernels/cuda/chunk_rows.h"
#include "kernels/cuda/fade.cuh"
#include "kernels/cuda/grid.cuh"

namespace palimpsest {

namespace {

constexpr int warps = 4;
constexpr int threads = warps * warp_size;

/// One chunk of one head: where its rows and tables lie.
template <class Scalar>
struct Chunk {
  const RowPrograms<Scalar>& rows;
  const Chunks<Scalar>& chunks;
  std::int64_t index;       // of the chunk among these
  std::int64_t batch_head;  // b H + h
  std::int64_t first;       // its first row among all
  std::int64_t L;           // rows that it has
  std::int64_t first_read;
  std::int64_t reads;

  __device__ Chunk(const RowPrograms<Scalar>& rows_, const Chunks<Scalar>& chunks_, std::int64_t index_,
                   std::int64_t batch_head_)
      : rows(rows_), chunks(chunks_), index(index_), batch_head(batch_head_) {
    first = chunks.first_row + index * chunks.L;
    L = min(chunks.L, rows.T - first);
    first_read = first / rows.rows_per_read;
    reads = max(min(chunks.reads, rows.R - first_read), std::int64_t{0});
  }

  /// Row r of the chunk in an array of rows.
  __device__ const Scalar* row(const DeviceRows<const Scalar>& array, std::int64_t r) const {
    return array.at(batch_head / rows.heads, batch_head % rows.heads) + (first + r) * array.token_stride;
  }

  /// Read s of the chunk in an array of reads.
  template <class Element>
  __device__ Element* read(const DeviceRows<Element>& array, std::int64_t s) const {
    return array.at(batch_head / rows.heads, batch_head % rows.heads) + (first_read + s) * array.token_stride;
  }

  /// The chunk's part of a table with `size` numbers for every chunk.
  __device__ Scalar* table(Scalar* tables, std::int64_t size) const {
    return tables + (batch_head * chunks.count + index) * size;
  }

  /// After how many decays and writes of this chunk a reader reads.
  __device__ std::int64_t since(const std::int64_t* times, std::int64_t reader) const {
    return times[reader] - first;
  }

  /// How many numbers a gate has: one, or one per key channel.
  __device__ std::int64_t gates() const { return rows.decays_by_channel ? rows.K : 1; }
};

/// Decays from the start and to the end of the chunk, of channel d: running products, or sums.
template <class Scalar>
__device__ void fill_decays(const Chunk<Scalar>& chunk, const DeviceRows<const Scalar>& gate, bool logs,
                            std::int64_t d, std::int64_t width, Scalar* in, Scalar* out) {
  Scalar passed = logs ? Scalar(0) : Scalar(1);
  for (std::int64_t i = 0; i < chunk.L; ++i) {
    const Scalar gate_i = chunk.row(gate, i)[d];
    passed = logs ? passed + gate_i : passed * gate_i;
    in[i * width + d] = logs ? exponential(passed) : passed;
  }
  passed = logs ? Scalar(0) : Scalar(1);
  for (std::int64_t j = chunk.L - 1; j >= 0; --j) {
    out[j * width + d] = logs ? exponential(passed) : passed;
    const Scalar gate_j = chunk.row(gate, j)[d];
    passed = logs ? passed + gate_j : passed * gate_j;
  }
}

/// w <- T_r w, a write on its way through the parts of a state.
template <class Scalar>
__device__ void move_on(const Scalar* T, std::int64_t p, Scalar (&w)[largest_part_count]) {
  Scalar moved[largest_part_count] = {};
  for (std::int64_t i = 0; i < p; ++i) {
    for (std::int64_t j = 0; j < p; ++j) moved[i] += T[i * p + j] * w[j];
  }
  for (std::int64_t i = 0; i < p; ++i) w[i] = moved[i];
}

/// h <- h^T T_r, a reader on its way back to the start of the chunk.
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

/// Everything that fades on the way through a chunk.
template <class Scalar>
__global__ void fill_tables(const RowPrograms<Scalar> rows, const Chunks<Scalar> chunks) {
  const Chunk<Scalar> chunk(rows, chunks, blockIdx.x, blockIdx.y);
  const std::int64_t p = rows.parts;
  if (rows.alpha.data) {
    const std::int64_t width = chunk.gates();
    for (std::int64_t d = threadIdx.x; d < width; d += threads) {
      fill_decays(chunk, rows.alpha, rows.gates_are_logs, d, width,
                  chunk.table(chunks.g_in, chunks.L * width), chunk.table(chunks.g_out, chunks.L * width));
    }
  }
  if (rows.mu.data) {
    for (std::int64_t c = threadIdx.x; c < rows.V; c += threads) {
      fill_decays(chunk, rows.mu, false, c, rows.V, chunk.table(chunks.m_in, chunks.L * rows.V),
                  chunk.table(chunks.m_out, chunks.L * rows.V));
    }
  }
  if (!rows.has_parts) return;
  for (std::int64_t s = threadIdx.x; s < chunk.reads; s += threads) {
    fill_sight(chunk, chunk.read(rows.read_sight, s), chunk.since(rows.reads.decays, chunk.first_read + s),
               chunk.table(chunks.sight_in, chunks.reads * p) + s * p);
  }
  for (std::int64_t j = threadIdx.x; j < chunk.L; j += threads) {
    if (rows.erase) {
      fill_sight(chunk, chunk.row(rows.erase_sight, j), chunk.since(rows.erases.decays, chunk.first + j),
                 chunk.table(chunks.erase_sight_in, chunks.L * p) + j * p);
    }
    Scalar w[largest_part_count] = {};
    for (std::int64_t i = 0; i < p; ++i) w[i] = chunk.row(rows.inject, j)[i];
    for (std::int64_t r = j + 1; r < chunk.L; ++r) move_on(chunk.row(rows.transition, r), p, w);
    for (std::int64_t i = 0; i < p; ++i) chunk.table(chunks.weights_out, chunks.L * p)[j * p + i] = w[i];
  }
  for (std::int64_t j = threadIdx.x; j < p; j += threads) {
    Scalar w[largest_part_count] = {};
    w[j] = 1;
    for (std::int64_t r = 0; r < chunk.L; ++r) move_on(chunk.row(rows.transition, r), p, w);
    for (std::int64_t i = 0; i < p; ++i) chunk.table(chunks.total, p * p)[i * p + j] = w[i];
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
  __device__ const Scalar* sight_of(const Chunk<Scalar>& chunk, std::int64_t s) const {
    return are_reads ? chunk.read(sight, s) : chunk.row(sight, s);
  }
};

/// W_sj: what is left of write j when reader s reads, 0 where it does not see it. One decay per row at most,
/// or parts; a thread follows write j.
template <class Scalar>
__global__ void fill_weights(const RowPrograms<Scalar> rows, const Chunks<Scalar> chunks,
                             const Readers<Scalar> readers, Scalar* weights) {
  const Chunk<Scalar> chunk(rows, chunks, blockIdx.y, blockIdx.z);
  const std::int64_t j = std::int64_t{blockIdx.x} * threads + threadIdx.x;
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
        const Scalar* const h = readers.sight_of(chunk, s);
        for (std::int64_t i = 0; i < p; ++i) weight += h[i] * w[i];
      } else {
        weight = rows.gates_are_logs ? exponential(fade) : fade;
      }
    }
    W[s * chunks.L + j] = weight;
  }
}

/// Z_sj = W_sj x_s^T y_j, in the place of W; y_j = beta_j y_j where strengths are given.
template <class Scalar>
__global__ void multiply_products(const RowPrograms<Scalar> rows, const Chunks<Scalar> chunks,
                                  const Readers<Scalar> readers, const DeviceRows<const Scalar> x,
                                  const DeviceRows<const Scalar> y, const DeviceRows<const Scalar> beta,
                                  Scalar* scores) {
  const Chunk<Scalar> chunk(rows, chunks, blockIdx.y, blockIdx.z);
  const std::int64_t pair = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  const std::int64_t s = pair / chunks.L;
  const std::int64_t j = pair % chunks.L;
  if (s >= readers.count(chunk) || j >= chunk.L) return;
  Scalar* const Z = chunk.table(scores, readers.of_a_chunk * chunks.L);
  if (j >= chunk.since(readers.times.writes, readers.first(chunk) + s)) return;  // 0 already
  const Scalar* const x_s = readers.are_reads ? chunk.read(x, s) : chunk.row(x, s);
  const Scalar* const y_j = chunk.row(y, j);
  const Scalar strength = beta.data ? chunk.row(beta, j)[0] : Scalar(1);
  Scalar product = 0;
  for (std::int64_t d = 0; d < rows.K; ++d) product += x_s[d] * (strength * y_j[d]);
  Z[s * chunks.L + j] *= product;
}

/// Z_sj = sum_d x_sd y_jd alpha_{j+1:s,d}, every channel with a decay of its own: a warp follows write j.
template <class Scalar>
__global__ void fill_channel_scores(const RowPrograms<Scalar> rows, const Chunks<Scalar> chunks,
                                    const Readers<Scalar> readers, const DeviceRows<const Scalar> x,
                                    const DeviceRows<const Scalar> y, const DeviceRows<const Scalar> beta,
                                    Scalar* scores) {
  extern __shared__ unsigned char shared[];
  const Chunk<Scalar> chunk(rows, chunks, blockIdx.y, blockIdx.z);
  const int lane = threadIdx.x % warp_size;
  const std::int64_t j = std::int64_t{blockIdx.x} * warps + threadIdx.x / warp_size;
  if (j >= chunk.L) return;
  Scalar* const fade = reinterpret_cast<Scalar*>(shared) + threadIdx.x / warp_size * rows.K;
  Scalar* const Z = chunk.table(scores, readers.of_a_chunk * chunks.L);
  const Scalar* const y_j = chunk.row(y, j);
  const Scalar strength = beta.data ? chunk.row(beta, j)[0] : Scalar(1);
  const bool logs = rows.gates_are_logs;
  for (std::int64_t d = lane; d < rows.K; d += warp_size) fade[d] = logs ? Scalar(0) : Scalar(1);

  std::int64_t passed = j + 1;
  for (std::int64_t s = 0; s < readers.count(chunk); ++s) {
    const std::int64_t reader = readers.first(chunk) + s;
    for (; passed < chunk.since(readers.times.decays, reader); ++passed) {
      const Scalar* const gate = chunk.row(rows.alpha, passed);
      for (std::int64_t d = lane; d < rows.K; d += warp_size)
        fade[d] = logs ? fade[d] + gate[d] : fade[d] * gate[d];
    }
    Scalar sum = 0;
    if (j < chunk.since(readers.times.writes, reader)) {
      const Scalar* const x_s = readers.are_reads ? chunk.read(x, s) : chunk.row(x, s);
      for (std::int64_t d = lane; d < rows.K; d += warp_size)
        sum += x_s[d] * (strength * y_j[d] * decay_of(fade[d], logs));
    }
    sum = sum_of_lanes(sum);
    if (lane == 0) Z[s * chunks.L + j] = sum;
  }
}

/// Column c of one chunk of one head.
template <class Scalar>
struct Column {
  const Chunk<Scalar>& chunk;
  const RowPrograms<Scalar>& rows;
  const Chunks<Scalar>& chunks;
  std::int64_t c;
  std::int64_t K;
  std::int64_t V;
  std::int64_t L;

  __device__ Column(const Chunk<Scalar>& chunk_, std::int64_t c_)
      : chunk(chunk_), rows(chunk.rows), chunks(chunk.chunks), c(c_), K(rows.K), V(rows.V), L(chunks.L) {}

  /// (alpha_{1:decays} o x)^T S_c, of a state in parts with the weights h of what was carried in.
  __device__ Scalar carried(const Scalar* S, const Scalar* x, std::int64_t decays, const Scalar* h) const {
    const std::int64_t width = chunk.gates();
    const Scalar* const g =
        rows.alpha.data && decays > 0 ? chunk.table(chunks.g_in, L * width) + (decays - 1) * width : nullptr;
    Scalar sum = 0;
    for (std::int64_t i = 0; i < rows.parts; ++i) {
      Scalar part = 0;
      for (std::int64_t k = 0; k < K; ++k)
        part += (g ? g[width == 1 ? 0 : k] * x[k] : x[k]) * S[(i * K + k) * V];
      sum += h ? h[i] * part : part;
    }
    return sum;
  }

  /// Lets one more row fade what was written into this value channel: mu_ic.
  __device__ void fade(Scalar* faded, std::int64_t i) const {
    const Scalar mu = chunk.row(rows.mu, i)[c];
    for (std::int64_t j = 0; j < i; ++j) faded[j * V] *= mu;
  }

  /// U_i = R_i - sum_{j<i} N_ij U_j, R_i = v_i - a_i^T (g o S) - sum_j N+_ij v+_j
  __device__ void write(const Scalar* S, const ChunkTap<Scalar>& tap) const {
    Scalar* const U = chunk.table(chunks.U, L * V) + c;
    Scalar* const faded = rows.mu.data ? chunk.table(chunks.faded, L * V) + c : U;
    for (std::int64_t i = 0; i < chunk.L; ++i) {
      const Scalar v = rows.writes_value ? chunk.row(rows.v, i)[c] : Scalar(0);
      if (!rows.erase) {
        U[i * V] = v;
        continue;
      }
      const std::int64_t decays = chunk.since(rows.erases.decays, chunk.first + i);
      const std::int64_t writes = chunk.since(rows.erases.writes, chunk.first + i);
      Scalar known = carried(
          S, chunk.row(rows.a, i), decays,
          rows.has_parts ? chunk.table(chunks.erase_sight_in, L * rows.parts) + i * rows.parts : nullptr);
      if (rows.mu.data) known *= chunk.table(chunks.m_in, L * V)[i * V + c];
      for (std::int64_t j = 0; j < writes && rows.k_plain.data; ++j)
        known += chunk.table(chunks.N_plain, L * L)[i * L + j] * chunk.row(rows.v_plain, j)[c];
      const Scalar R = v - known;
      if (tap.R) tap.R[i * V + c] = R;

      const Scalar* const N_i = chunk.table(chunks.N, L * L) + i * L;
      if (rows.mu.data) fade(faded, i);
      Scalar erased = 0;
      for (std::int64_t j = 0; j < writes; ++j) erased += N_i[j] * faded[j * V];
      U[i * V] = R - erased;
      faded[i * V] = U[i * V];
    }
  }

  /// O_s = (g o q_s)^T S + sum_j P_sj U_j + sum_j P+_sj v+_j
  __device__ void read(const Scalar* S, const ChunkTap<Scalar>& tap) const {
    const Scalar* const U = chunk.table(chunks.U, L * V) + c;
    Scalar* const faded = rows.mu.data ? chunk.table(chunks.faded, L * V) + c : nullptr;
    std::int64_t passed = 0;
    for (std::int64_t s = 0; s < chunk.reads; ++s) {
      const std::int64_t decays = chunk.since(rows.reads.decays, chunk.first_read + s);
      const std::int64_t writes = chunk.since(rows.reads.writes, chunk.first_read + s);
      for (; rows.mu.data && passed < writes; ++passed) {
        fade(faded, passed);
        faded[passed * V] = U[passed * V];
      }
      Scalar inter =
          carried(S, chunk.read(rows.q, s), decays,
                  rows.has_parts ? chunk.table(chunks.sight_in, chunks.reads * rows.parts) + s * rows.parts
                                 : nullptr);
      if (rows.mu.data && writes > 0) inter *= chunk.table(chunks.m_in, L * V)[(writes - 1) * V + c];
      const Scalar* const P_s = chunk.table(chunks.P, chunks.reads * L) + s * L;
      const Scalar* const W = rows.mu.data ? faded : U;
      Scalar intra = 0;
      for (std::int64_t j = 0; j < writes; ++j) intra += P_s[j] * W[j * V];
      for (std::int64_t j = 0; j < writes && rows.k_plain.data; ++j)
        intra += chunk.table(chunks.P_plain, chunks.reads * L)[s * L + j] * chunk.row(rows.v_plain, j)[c];
      chunk.read(rows.o, s)[c] = inter + intra;
      if (tap.inter) tap.inter[s * V + c] = inter;
      if (tap.intra) tap.intra[s * V + c] = intra;
    }
  }

  /// S_k <- g_L S_k + sum_j (G_L o b_j)_k U_j + sum_j (G_L o k+_j)_k v+_j
  __device__ void carry(Scalar* S, const ChunkTap<Scalar>& tap) const {
    const Scalar* const U = chunk.table(chunks.U, L * V) + c;
    const std::int64_t width = chunk.gates();
    const Scalar* const g_in = rows.alpha.data ? chunk.table(chunks.g_in, L * width) : nullptr;
    const Scalar* const g_out = rows.alpha.data ? chunk.table(chunks.g_out, L * width) : nullptr;
    const std::int64_t p = rows.parts;
    for (std::int64_t k = 0; k < K; ++k) {
      const std::int64_t gate = width == 1 ? 0 : k;
      Scalar kept[largest_part_count] = {};
      for (std::int64_t i = 0; i < p; ++i) {
        if (!rows.has_parts) kept[i] = S[k * V];
        for (std::int64_t j = 0; j < p && rows.has_parts; ++j)
          kept[i] += chunk.table(chunks.total, p * p)[i * p + j] * S[(j * K + k) * V];
        if (g_in) kept[i] *= g_in[(chunk.L - 1) * width + gate];
        if (rows.mu.data) kept[i] *= chunk.table(chunks.m_in, L * V)[(chunk.L - 1) * V + c];
      }
      for (std::int64_t i = 0; i < p; ++i) {
        Scalar written = 0;
        for (std::int64_t j = 0; j < chunk.L; ++j) {
          const Scalar beta = rows.beta.data ? chunk.row(rows.beta, j)[0] : Scalar(1);
          const Scalar left = g_out ? g_out[j * width + gate] : Scalar(1);
          const Scalar m = rows.mu.data ? chunk.table(chunks.m_out, L * V)[j * V + c] : Scalar(1);
          const Scalar weight =
              rows.has_parts ? chunk.table(chunks.weights_out, L * p)[j * p + i] : Scalar(1);
          written += left * weight * (beta * chunk.row(rows.k, j)[k]) * (m * U[j * V]);
          if (rows.k_plain.data)
            written += left * chunk.row(rows.k_plain, j)[k] * chunk.row(rows.v_plain, j)[c];
        }
        if (tap.S_written) tap.S_written[(i * K + k) * V + c] = written;
        S[(i * K + k) * V] = kept[i] + written;
      }
    }
  }
};

template <class Scalar>
__global__ void chain_columns(const RowPrograms<Scalar> rows, const Chunks<Scalar> chunks, bool outputs,
                              const ChunkTap<Scalar> tap) {
  const std::int64_t c = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (c >= rows.V) return;
  const std::int64_t state = rows.parts * rows.K * rows.V;
  Scalar* const S = rows.final_state + blockIdx.y * state + c;
  for (std::int64_t index = 0; index < chunks.count; ++index) {
    const Chunk<Scalar> chunk(rows, chunks, index, blockIdx.y);
    const Column<Scalar> column(chunk, c);
    if (!outputs && chunks.S_in) {
      for (std::int64_t k = 0; k < rows.parts * rows.K; ++k)
        chunk.table(chunks.S_in, state)[k * rows.V + c] = S[k * rows.V];
    }
    column.write(S, tap);
    if (outputs) column.read(S, tap);
    column.carry(S, tap);
  }
}

template <class Scalar>
__global__ void read_columns(const RowPrograms<Scalar> rows, const Chunks<Scalar> chunks,
                             const ChunkTap<Scalar> tap) {
  const std::int64_t c = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (c >= rows.V) return;
  const Chunk<Scalar> chunk(rows, chunks, blockIdx.y, blockIdx.z);
  const Column<Scalar> column(chunk, c);
  column.read(chunk.table(chunks.S_in, rows.parts * rows.K * rows.V) + c, tap);
}

template <class Scalar>
unsigned heads_of(const RowPrograms<Scalar>& rows) {
  return static_cast<unsigned>(rows.batches * rows.heads);
}

template <class Scalar>
bool each_channel_decays(const RowPrograms<Scalar>& rows) {
  return rows.decays_by_channel && rows.alpha.data;
}

/// Bytes of shared memory that a block of fill_channel_scores() takes.
template <class Scalar>
std::size_t bytes_of_fades(std::int64_t K) {
  return sizeof(Scalar) * warps * static_cast<std::size_t>(K);
}

/// Throws Unsupported where a block of the device has less.
template <class Scalar>
void require_room_for_fades(const RowPrograms<Scalar>& rows) {
  if (!each_channel_decays(rows)) return;
  int room = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  const auto bytes = static_cast<std::size_t>(room);
  if (bytes_of_fades<Scalar>(rows.K) <= bytes) return;
  throw Unsupported("decays of " + std::to_string(rows.K) +
                    " key channels in chunks: the shared memory of this device has room for " +
                    std::to_string(bytes / bytes_of_fades<Scalar>(1)) +
                    (sizeof(Scalar) == sizeof(double) ? " in f64" : " in f32"));
}

/// Scores of x with y for all these readers.
template <class Scalar>
void make_scores(const RowPrograms<Scalar>& rows, const Chunks<Scalar>& chunks,
                 const Readers<Scalar>& readers, const DeviceRows<const Scalar>& x,
                 const DeviceRows<const Scalar>& y, const DeviceRows<const Scalar>& beta, Scalar* scores) {
  if (readers.of_a_chunk == 0) return;
  const auto count = static_cast<unsigned>(chunks.count);
  if (each_channel_decays(rows)) {
    const std::size_t shared = bytes_of_fades<Scalar>(rows.K);
    if (shared > 48 * 1024)
      CHECK_CUDA(cudaFuncSetAttribute(fill_channel_scores<Scalar>,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
    fill_channel_scores<<<dim3(blocks_for(chunks.L, warps), count, heads_of(rows)), threads, shared>>>(
        rows, chunks, readers, x, y, beta, scores);
  } else {
    fill_weights<<<dim3(blocks_for(chunks.L, threads), count, heads_of(rows)), threads>>>(rows, chunks,
                                                                                          readers, scores);
    CHECK_CUDA(cudaGetLastError());
    multiply_products<<<dim3(blocks_for(readers.of_a_chunk * chunks.L, threads), count, heads_of(rows)),
                        threads>>>(rows, chunks, readers, x, y, beta, scores);
  }
  CHECK_CUDA(cudaGetLastError());
}

}  // namespace

template <class Scalar>
void make_chunk_tables(const RowPrograms<Scalar>& rows, const Chunks<Scalar>& chunks) {
  require_part_count(rows.parts);
  require_room_for_fades(rows);
  if (chunks.count == 0 || heads_of(rows) == 0) return;
  fill_tables<<<dim3(static_cast<unsigned>(chunks.count), heads_of(rows)), threads>>>(rows, chunks);
  CHECK_CUDA(cudaGetLastError());
  const Readers<Scalar> reads = {rows.reads, rows.read_sight, true, chunks.reads};
  const Readers<Scalar> erases = {rows.erases, rows.erase_sight, false, chunks.L};
  make_scores(rows, chunks, reads, rows.q, rows.k, rows.beta, chunks.P);
  if (rows.erase) make_scores(rows, chunks, erases, rows.a, rows.k, rows.beta, chunks.N);
  if (!rows.k_plain.data) return;
  make_scores(rows, chunks, reads, rows.q, rows.k_plain, {}, chunks.P_plain);
  if (rows.erase) make_scores(rows, chunks, erases, rows.a, rows.k_plain, {}, chunks.N_plain);
}

template <class Scalar>
void make_chunk_weights(const RowPrograms<Scalar>& rows, const Chunks<Scalar>& chunks,
                        const ReaderTimes& readers, const DeviceRows<const Scalar>& sight, bool are_reads,
                        Scalar* weights) {
  if (chunks.count == 0) return;
  const Readers<Scalar> all = {readers, sight, are_reads, are_reads ? chunks.reads : chunks.L};
  fill_weights<<<dim3(blocks_for(chunks.L, threads), static_cast<unsigned>(chunks.count), heads_of(rows)),
                 threads>>>(rows, chunks, all, weights);
  CHECK_CUDA(cudaGetLastError());
}

template <class Scalar>
void chain_chunks(const RowPrograms<Scalar>& rows, const Chunks<Scalar>& chunks, bool outputs,
                  const ChunkTap<Scalar>& tap) {
  if (chunks.count == 0 || rows.V == 0 || heads_of(rows) == 0) return;
  chain_columns<<<dim3(blocks_for(rows.V, threads), heads_of(rows)), threads>>>(rows, chunks, outputs, tap);
  CHECK_CUDA(cudaGetLastError());
}

template <class Scalar>
void chunk_reads(const RowPrograms<Scalar>& rows, const Chunks<Scalar>& chunks, const ChunkTap<Scalar>& tap) {
  if (chunks.count == 0 || rows.V == 0 || heads_of(rows) == 0 || chunks.reads == 0) return;
  read_columns<<<dim3(blocks_for(rows.V, threads), static_cast<unsigned>(chunks.count), heads_of(rows)),
                 threads>>>(rows, chunks, tap);
  CHECK_CUDA(cudaGetLastError());
}

#define PALIMPSEST_INSTANTIATE(Scalar)                                                                    \
  template void make_chunk_tables(const RowPrograms<Scalar>&, const Chunks<Scalar>&);                     \
  template void make_chunk_weights(const RowPrograms<Scalar>&, const Chunks<Scalar>&, const ReaderTimes&, \
                                   const DeviceRows<const Scalar>&, bool, Scalar*);                       \
  template void chain_chunks(const RowPrograms<Scalar>&, const Chunks<Scalar>&, bool,                     \
                             const ChunkTap<Scalar>&);                                                    \
  template void chunk_reads(const RowPrograms<Scalar>&, const Chunks<Scalar>&, const ChunkTap<Scalar>&);
PALIMPSEST_INSTANTIATE(double)
PALIMPSEST_INSTANTIATE(float)
#undef PALIMPSEST_INSTANTIATE

}  // namespace palimpsest
