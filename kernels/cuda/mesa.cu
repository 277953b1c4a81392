// MesaNet, written to be read (spec 3.13): every query has a system of its own, M_i x_i = q_i with
// M_i = g_i Hkk + sum_{j<=i} W_ij k_j k_j^T + ridge.
//
// The states H do not depend on the solutions: those before all chunks are computed first, an element a
// thread. Then all queries are independent. In the chunkwise form a block takes some queries of one chunk and
// runs conjugate gradients on all of them, never forming an M_i; a query that does not converge is solved
// directly by the whole block. The other forms form every M_i and solve it directly, a block each; the
// recurrent one token by token, a block for each head. Such a system lies in shared memory if it fits.

#include "kernels/cuda/block.cuh"
#include "kernels/cuda/engine.h"
#include "kernels/cuda/tile_product.cuh"

namespace palimpsest::cuda {

namespace {

/// Products of queries are made in tiles, by a block as they make them.
template <class Scalar>
using QueryTile = Tile<Scalar, 4>;

constexpr int threads_of_block = QueryTile<float>::threads;
constexpr int threads_of_walk = 512;
constexpr int queries_of_block = QueryTile<float>::height;

enum SolveState { done, running, stuck };

/// Room for solves of as many blocks.
template <class Scalar>
struct SolveRooms {
  std::int64_t blocks = 0;
  Scalar* M = nullptr;            // [blocks, K, K]
  std::int64_t* order = nullptr;  // [blocks, K]
};

/// Chunks of all heads, and their tables: a head has C chunks of L tokens. The last one may be padded with
/// tokens that neither decay nor write nor query. N = H C chunks.
template <class Scalar>
struct MesaChunks {
  std::int64_t heads = 0;   // H
  std::int64_t chunks = 0;  // C
  std::int64_t L = 0;
  std::int64_t K = 0;
  std::int64_t V = 0;
  const Scalar* q = nullptr;      // [N, L, K]
  const Scalar* k = nullptr;      // [N, L, K]
  const Scalar* v = nullptr;      // [N, L, V]
  const Scalar* beta = nullptr;   // [N, L]
  const Scalar* gamma = nullptr;  // [N, L]
  const Scalar* ridge = nullptr;  // [H, K, K]
  Scalar* state = nullptr;        // [H, C + 1, K, K + V]: before every chunk, and after the last
  Scalar* W = nullptr;            // [N, L, L]
  Scalar* g_in = nullptr;         // [N, L]
  Scalar* g_out = nullptr;        // [N, L]
  Scalar* X = nullptr;            // [N, L, K]
  Scalar* A = nullptr;            // [N, L, L]
  Scalar* O = nullptr;            // [N, L, V]

  // Of conjugate gradients.
  Scalar* R = nullptr;               // [N, L, K], the residuals
  Scalar* P = nullptr;               // [N, L, K], the directions
  Scalar* MP = nullptr;              // [N, L, K]
  Scalar* preconditioner = nullptr;  // [N, L, K]

  // Only for a trace; null: not needed.
  Scalar* G = nullptr;       // [N, L, L]
  Scalar* Q_back = nullptr;  // [N, L, K]
  Scalar* inter = nullptr;   // [N, L, V]
  Scalar* intra = nullptr;   // [N, L, V]
};

/// One chunk of one head.
template <class Scalar>
struct MesaChunk {
  const MesaChunks<Scalar>& all;
  std::int64_t n;
  std::int64_t L = all.L;
  std::int64_t K = all.K;
  std::int64_t V = all.V;
  const Scalar* q = all.q + n * L * K;
  const Scalar* k = all.k + n * L * K;
  const Scalar* v = all.v + n * L * V;
  const Scalar* beta = all.beta + n * L;
  const Scalar* gamma = all.gamma + n * L;
  const Scalar* ridge = all.ridge + n / all.chunks * K * K;
  // [K, K + V], before it
  Scalar* H = all.state + (n / all.chunks * (all.chunks + 1) + n % all.chunks) * K * (K + V);
  Scalar* W = all.W + n * L * L;
  Scalar* g_in = all.g_in + n * L;
  Scalar* g_out = all.g_out + n * L;

  __device__ Scalar Hkk(std::int64_t c, std::int64_t d) const { return H[c * (K + V) + d]; }
  __device__ Scalar Hkv(std::int64_t d, std::int64_t c) const { return H[d * (K + V) + K + c]; }

  /// (k_i, v_i)_e
  __device__ Scalar pair(std::int64_t i, std::int64_t e) const {
    return e < K ? k[i * K + e] : v[i * V + e - K];
  }
};

/// G_ij = gamma_{j+1:i}, W_ij = G_ij beta_j for j <= i, g_in_i = gamma_{1:i}, g_out_j = G_Lj: column j a
/// thread.
template <class Scalar>
__global__ void fill_columns(const MesaChunks<Scalar> chunks) {
  each_of(chunks.heads * chunks.chunks, chunks.L, [&](std::int64_t n, std::int64_t j) {
    const MesaChunk<Scalar> chunk{chunks, n};
    const std::int64_t L = chunk.L;
    Scalar* const G = chunks.G ? chunks.G + n * L * L : nullptr;
    Scalar left = 0;
    for (std::int64_t i = 0; i < L; ++i) {
      if (i == j) left = 1;
      if (i > j) left *= chunk.gamma[i];
      chunk.W[i * L + j] = left * chunk.beta[j];
      if (G) G[i * L + j] = left;
    }
    chunk.g_out[j] = left;
    if (j > 0) return;
    Scalar passed = 1;
    for (std::int64_t i = 0; i < L; ++i) {
      passed *= chunk.gamma[i];
      chunk.g_in[i] = passed;
    }
  });
}

/// H_ce <- g_L H_ce + sum_j W_Lj k_jc (k_j, v_j)_e, chunk after chunk: an element of one head a thread.
template <class Scalar>
__global__ void chain_elements(const MesaChunks<Scalar> chunks) {
  const std::int64_t width = chunks.K + chunks.V;
  each_of(chunks.heads, chunks.K * width, [&](std::int64_t head, std::int64_t index) {
    const std::int64_t c = index / width;
    const std::int64_t e = index % width;
    for (std::int64_t n = head * chunks.chunks; n < (head + 1) * chunks.chunks; ++n) {
      const MesaChunk<Scalar> chunk{chunks, n};
      const Scalar* const left = chunk.W + (chunk.L - 1) * chunk.L;
      Scalar written = 0;
      for (std::int64_t j = 0; j < chunk.L; ++j)
        written += left[j] * chunk.k[j * chunk.K + c] * chunk.pair(j, e);
      chunk.H[chunk.K * width + index] = chunk.g_in[chunk.L - 1] * chunk.H[index] + written;
    }
  });
}

/// Calls visit(chunk, first_row, first_column) for tile blockIdx.x, of rows and `columns` columns, of every
/// chunk that is this block's.
template <class Scalar, class Visit>
__device__ void each_tile(const MesaChunks<Scalar>& chunks, std::int64_t columns, Visit visit) {
  using Tile = QueryTile<Scalar>;
  const std::int64_t along = Tile::tiles_along(columns);
  for (std::int64_t n = blockIdx.y; n < chunks.heads * chunks.chunks; n += gridDim.y) {
    visit(MesaChunk<Scalar>{chunks, n}, blockIdx.x / along * Tile::height,
          blockIdx.x % along * Tile::columns);
  }
}

/// A_ij = W_ij sum_d X_id k_jd for j <= i, else 0: a block makes a tile.
template <class Scalar>
__global__ void __launch_bounds__(threads_of_block) fill_scores(const MesaChunks<Scalar> chunks) {
  using Tile = QueryTile<Scalar>;
  __shared__ typename Tile::Room room;
  const std::int64_t L = chunks.L;
  const std::int64_t K = chunks.K;
  each_tile(chunks, L, [&](const MesaChunk<Scalar>& chunk, std::int64_t first_i, std::int64_t first_j) {
    const Scalar* const X = chunks.X + (chunk.n * L + first_i) * K;
    const Scalar* const k = chunk.k + first_j * K;
    Tile products(room, L - first_i, L - first_j);
    const bool is_seen = first_j < first_i + Tile::height;
    products.template add<Neighbours::along_the_sum, Neighbours::along_the_sum>(
        is_seen ? K : 0, [&](int i, std::int64_t d) { return X[i * K + d]; },
        [&](std::int64_t d, int j) { return k[j * K + d]; });
    products.each([&](int m, int c, Scalar product) {
      const std::int64_t i = first_i + m;
      const std::int64_t j = first_j + c;
      chunks.A[(chunk.n * L + i) * L + j] = j <= i ? chunk.W[i * L + j] * product : Scalar(0);
    });
  });
}

/// o_ic = g_i sum_d x_id Hkv_dc + sum_{j<=i} A_ij v_jc: a block makes a tile.
template <class Scalar>
__global__ void __launch_bounds__(threads_of_block) read_elements(const MesaChunks<Scalar> chunks) {
  using Tile = QueryTile<Scalar>;
  using enum Neighbours;
  __shared__ typename Tile::Room room;
  const std::int64_t L = chunks.L;
  const std::int64_t K = chunks.K;
  const std::int64_t V = chunks.V;
  each_tile(chunks, V, [&](const MesaChunk<Scalar>& chunk, std::int64_t first_i, std::int64_t first_c) {
    const std::int64_t row = chunk.n * L + first_i;
    Tile carried(room, L - first_i, V - first_c);
    carried.template add<along_the_sum, across_the_sum>(
        K, [&](int m, std::int64_t d) { return chunk.g_in[first_i + m] * chunks.X[(row + m) * K + d]; },
        [&](std::int64_t d, int c) { return chunk.Hkv(d, first_c + c); });
    carried.each([&](int m, int c, Scalar sum) {
      const std::int64_t at = (row + m) * V + first_c + c;
      chunks.O[at] = sum;
      if (chunks.inter) chunks.inter[at] = sum;
    });
    Tile own(room, L - first_i, V - first_c);
    own.template add<along_the_sum, across_the_sum>(
        min(first_i + Tile::height, L), [&](int m, std::int64_t j) { return chunks.A[(row + m) * L + j]; },
        [&](std::int64_t j, int c) { return chunk.v[j * V + first_c + c]; });
    own.each([&](int m, int c, Scalar sum) {
      // 0 times a value that the query does not see is NaN if that is not finite.
      if (!isfinite(sum)) {
        sum = 0;
        for (std::int64_t j = 0; j <= first_i + m; ++j)
          sum += chunks.A[(row + m) * L + j] * chunk.v[j * V + first_c + c];
      }
      const std::int64_t at = (row + m) * V + first_c + c;
      chunks.O[at] += sum;
      if (chunks.intra) chunks.intra[at] = sum;
    });
  });
}

/// (M_i x_i)_d = sum_c x_ic (g_i Hkk_cd + ridge_cd) + sum_{j<=i} A_ij k_jd
template <class Scalar>
__device__ Scalar product(const MesaChunk<Scalar>& chunk, std::int64_t i, std::int64_t d, const Scalar* x,
                          const Scalar* A_i) {
  Scalar sum = 0;
  for (std::int64_t c = 0; c < chunk.K; ++c)
    sum += x[c] * (chunk.g_in[i] * chunk.Hkk(c, d) + chunk.ridge[c * chunk.K + d]);
  for (std::int64_t j = 0; j <= i; ++j) sum += A_i[j] * chunk.k[j * chunk.K + d];
  return sum;
}

template <class Scalar>
__global__ void multiply_solutions(const MesaChunks<Scalar> chunks) {
  const std::int64_t L = chunks.L;
  const std::int64_t K = chunks.K;
  each_of(chunks.heads * chunks.chunks, L * K, [&](std::int64_t n, std::int64_t index) {
    const std::int64_t row = n * L + index / K;
    chunks.Q_back[n * L * K + index] =
        product(MesaChunk<Scalar>{chunks, n}, index / K, index % K, chunks.X + row * K, chunks.A + row * L);
  });
}

/// The room of this block in device memory.
template <class Scalar>
__device__ SolveRoom<Scalar> room_of(const SolveRooms<Scalar>& rooms, std::int64_t block, std::int64_t K) {
  return {rooms.M + block * K * K, K, rooms.order + block * K};
}

/// Columns are read too: an odd stride puts their numbers in different banks.
__host__ __device__ std::int64_t shared_stride(std::int64_t K) { return K | 1; }

/// The room of this block in shared memory.
template <class Scalar>
__device__ SolveRoom<Scalar> shared_room(std::int64_t K) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto* const order = reinterpret_cast<std::int64_t*>(shared);
  return {reinterpret_cast<Scalar*>(order + K), shared_stride(K), order};
}

/// Bytes of it; 0: more than a block can have.
template <class Scalar>
std::size_t bytes_of_shared_room(std::int64_t K) {
  return shared_bytes_or_none(Index{sizeof(std::int64_t)} * K + Index{sizeof(Scalar)} * K * shared_stride(K));
}

/// Conjugate gradients on some queries of one chunk at once. Queries are scaled to size 1, so that no square
/// overflows or underflows.
template <class Scalar>
class ConjugateGradients {
 public:
  /// Numbers of the queries, shared by the threads.
  struct Numbers {
    Scalar size[queries_of_block];      // of the query as it was given
    Scalar residual[queries_of_block];  // squared, in the preconditioner's norm
    Scalar enough[queries_of_block];
    int state[queries_of_block];
  };

  __device__ ConjugateGradients(const MesaChunks<Scalar>& chunks, std::int64_t n, std::int64_t first_,
                                Numbers& numbers_, typename QueryTile<Scalar>::Room& room_)
      : chunk{chunks, n}, numbers(numbers_), tile_room(room_), first(first_) {}

  __device__ void run() const {
    begin();
    const std::int64_t most_steps = 4 * K + 16;
    for (std::int64_t step = 0; step < most_steps; ++step) {
      int is_running = 0;
      for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x)
        is_running |= numbers.state[i] == running;
      if (!__syncthreads_or(is_running)) return;
      multiply_directions();
      go_on();
    }
  }

  /// Solves those that have not converged directly, and undoes the scaling of all.
  __device__ void finish(const SolveRoom<Scalar>& room) const {
    for (std::int64_t i = 0; i < count; ++i) {
      if (numbers.state[i] == done) continue;
      const Scalar* const W_i = chunk.W + (first + i) * L;
      // M_cd = g_i Hkk_cd + sum_{j<=i} W_ij k_jc k_jd + ridge_cd
      each(K, K, [&](std::int64_t c, std::int64_t d) {
        Scalar sum = chunk.g_in[first + i] * chunk.Hkk(c, d) + chunk.ridge[c * K + d];
        for (std::int64_t j = 0; j <= first + i; ++j) sum += W_i[j] * chunk.k[j * K + c] * chunk.k[j * K + d];
        room.M[c * room.stride + d] = sum;
      });
      each(K, [&](std::int64_t d) { X[i * K + d] = query(i, d) / numbers.size[i]; });
      solve(K, room, X + i * K);
    }
    each(count, K, [&](std::int64_t i, std::int64_t d) { X[i * K + d] *= numbers.size[i]; });
  }

 private:
  __device__ Scalar query(std::int64_t i, std::int64_t d) const { return chunk.q[(first + i) * K + d]; }

  /// x = 0, r = q, p = r / diagonal of M_i
  __device__ void begin() const {
    each_by_warp(count, [&](std::int64_t i, int lane) {
      Scalar size = warp_reduce(
          K, Scalar(0), [&](std::int64_t d) { return fabs(query(i, d)); },
          [](Scalar a, Scalar b) { return a > b ? a : b; });
      if (!(size > 0)) size = 1;
      const Scalar* const W_i = chunk.W + (first + i) * L;
      for (std::int64_t d = lane; d < K; d += warp_size) {
        const Scalar carried = chunk.Hkk(d, d) > 0 ? chunk.Hkk(d, d) : Scalar(0);
        Scalar diagonal = chunk.g_in[first + i] * carried + chunk.ridge[d * K + d];
        for (std::int64_t j = 0; j <= first + i; ++j)
          diagonal += W_i[j] * (chunk.k[j * K + d] * chunk.k[j * K + d]);
        const std::int64_t at = i * K + d;
        X[at] = 0;
        R[at] = query(i, d) / size;
        inverses[at] = 1 / diagonal;
        P[at] = R[at] * inverses[at];
      }
      const Scalar residual =
          warp_sum<Scalar>(K, [&](std::int64_t d) { return R[i * K + d] * P[i * K + d]; });
      if (lane > 0) return;
      constexpr Scalar rounding = rounding_of<Scalar>;
      numbers.size[i] = size;
      numbers.residual[i] = residual;
      numbers.enough[i] = residual * (rounding * rounding);
      numbers.state[i] = residual > numbers.enough[i] ? running : done;
    });
  }

  /// M_i p_i of all.
  __device__ void multiply_directions() const {
    using Tile = QueryTile<Scalar>;
    using enum Neighbours;
    const auto directions = [&](int i, std::int64_t d) { return P[i * K + d]; };
    // A_ij = W_ij sum_d p_id k_jd for j <= i
    for (std::int64_t first_j = 0; first_j < first + count; first_j += Tile::columns) {
      Tile scores(tile_room, count, first + count - first_j);
      scores.template add<along_the_sum, along_the_sum>(
          K, directions, [&](std::int64_t d, int j) { return chunk.k[(first_j + j) * K + d]; });
      scores.each([&](int i, int c, Scalar sum) {
        const std::int64_t j = first_j + c;
        A[i * L + j] = j <= first + i ? chunk.W[(first + i) * L + j] * sum : Scalar(0);
      });
    }
    __syncthreads();
    // g_i sum_c p_ic Hkk_cd + sum_c p_ic ridge_cd + sum_{j<=i} A_ij k_jd
    for (std::int64_t first_d = 0; first_d < K; first_d += Tile::columns) {
      Tile products(tile_room, count, K - first_d);
      products.template add<along_the_sum, across_the_sum>(
          K, [&](int i, std::int64_t c) { return chunk.g_in[first + i] * P[i * K + c]; },
          [&](std::int64_t c, int d) { return chunk.Hkk(c, first_d + d); });
      products.template add<along_the_sum, across_the_sum>(
          K, directions, [&](std::int64_t c, int d) { return chunk.ridge[c * K + first_d + d]; });
      products.template add<along_the_sum, across_the_sum>(
          first + count, [&](int i, std::int64_t j) { return A[i * L + j]; },
          [&](std::int64_t j, int d) { return chunk.k[j * K + first_d + d]; });
      products.each([&](int i, int d, Scalar sum) {
        // 0 times a key that the query does not see is NaN if that is not finite.
        if (!isfinite(sum)) sum = product(chunk, first + i, first_d + d, P + i * K, A + i * L);
        MP[i * K + first_d + d] = sum;
      });
    }
    __syncthreads();
  }

  /// One step of those that still run.
  __device__ void go_on() const {
    each_by_warp(count, [&](std::int64_t i, int lane) {
      if (numbers.state[i] != running) return;
      Scalar* const x = X + i * K;
      Scalar* const r = R + i * K;
      Scalar* const p = P + i * K;
      const Scalar* const Mp = MP + i * K;
      const Scalar* const inverse = inverses + i * K;
      const Scalar before = numbers.residual[i];
      const Scalar length = before / warp_sum<Scalar>(K, [&](std::int64_t d) { return p[d] * Mp[d]; });
      if (!(length > 0 && length <= largest_number<Scalar>)) {
        __syncwarp();
        if (lane == 0) numbers.state[i] = stuck;
        return;
      }
      for (std::int64_t d = lane; d < K; d += warp_size) {
        x[d] += length * p[d];
        r[d] -= length * Mp[d];
      }
      const Scalar residual = warp_sum<Scalar>(K, [&](std::int64_t d) { return r[d] * (r[d] * inverse[d]); });
      const bool is_enough = residual <= numbers.enough[i];
      for (std::int64_t d = lane; d < K && !is_enough; d += warp_size)
        p[d] = r[d] * inverse[d] + residual / before * p[d];
      __syncwarp();
      if (lane > 0) return;
      numbers.residual[i] = residual;
      if (is_enough) numbers.state[i] = done;
    });
  }

  MesaChunk<Scalar> chunk;
  Numbers& numbers;
  typename QueryTile<Scalar>::Room& tile_room;
  std::int64_t first;
  std::int64_t K = chunk.K;
  std::int64_t L = chunk.L;
  std::int64_t count = L - first < queries_of_block ? L - first : queries_of_block;
  std::int64_t row = chunk.n * L + first;
  Scalar* X = chunk.all.X + row * K;
  Scalar* R = chunk.all.R + row * K;
  Scalar* P = chunk.all.P + row * K;
  Scalar* MP = chunk.all.MP + row * K;
  Scalar* inverses = chunk.all.preconditioner + row * K;
  Scalar* A = chunk.all.A + row * L;
};

template <class Scalar>
__global__ void __launch_bounds__(threads_of_block)
    solve_queries(const MesaChunks<Scalar> chunks, const SolveRooms<Scalar> rooms) {
  __shared__ typename ConjugateGradients<Scalar>::Numbers numbers;
  __shared__ typename QueryTile<Scalar>::Room room;
  const std::int64_t of_chunk = (chunks.L + queries_of_block - 1) / queries_of_block;
  for (std::int64_t index = blockIdx.x; index < chunks.heads * chunks.chunks * of_chunk; index += gridDim.x) {
    const ConjugateGradients<Scalar> gradients(chunks, index / of_chunk, index % of_chunk * queries_of_block,
                                               numbers, room);
    gradients.run();
    gradients.finish(room_of(rooms, blockIdx.x, chunks.K));
  }
}

/// H <- gamma H + beta k (k, v)^T, x = (Hkk + ridge)^{-1} q, o = Hkv^T x, token by token.
template <class Scalar>
__global__ void __launch_bounds__(threads_of_walk)
    walk_tokens(const MesaChunks<Scalar> chunks, const SolveRooms<Scalar> rooms, bool is_shared,
                std::int64_t first, std::int64_t end, Scalar* decayed) {
  const std::int64_t head = blockIdx.x;
  const std::int64_t K = chunks.K;
  const std::int64_t V = chunks.V;
  const MesaChunk<Scalar> tokens{chunks, head};
  const SolveRoom<Scalar> room = is_shared ? shared_room<Scalar>(K) : room_of(rooms, head, K);
  for (std::int64_t t = first; t < end; ++t) {
    const Scalar gamma = tokens.gamma[t];
    const Scalar beta = tokens.beta[t];
    Scalar* const x = chunks.X + (head * chunks.L + t) * K;
    Scalar* const o = chunks.O + (head * chunks.L + t) * V;
    struct Element {
      Scalar left;
      Scalar H;
      Scalar M;
    };
    const int width = static_cast<int>(K + V);
    few_at_once(
        std::int64_t{threadIdx.x}, K * (K + V), blockDim.x,
        [&](std::int64_t index) {
          const int c = static_cast<int>(index) / width;
          const int e = static_cast<int>(index) % width;
          const Scalar left = gamma * tokens.H[index];
          const Scalar H = left + beta * tokens.k[t * K + c] * tokens.pair(t, e);
          return Element{left, H, e < K ? H + tokens.ridge[c * K + e] : Scalar(0)};
        },
        [&](std::int64_t index, const Element& element) {
          const int c = static_cast<int>(index) / width;
          const int e = static_cast<int>(index) % width;
          tokens.H[index] = element.H;
          if (decayed) decayed[head * K * (K + V) + index] = element.left;
          if (e < K) room.M[c * room.stride + e] = element.M;
        });
    __syncthreads();
    each(K, [&](std::int64_t d) { x[d] = tokens.q[t * K + d]; });
    solve(K, room, x);
    each(V, [&](std::int64_t c) {
      Scalar sum = 0;
      for (std::int64_t d = 0; d < K; ++d) sum += x[d] * tokens.Hkv(d, c);
      o[c] = sum;
    });
  }
}

/// M_t = Hkk_t + ridge with Hkk_t = gamma_t Hkk_{t-1} + beta_t k_t k_t^T: an element of all tokens a thread.
template <class Scalar>
__global__ void form_systems(const MesaChunks<Scalar> chunks, const SolveRooms<Scalar> rooms,
                             std::int64_t first, std::int64_t end, Scalar* Hkk) {
  const std::int64_t K = chunks.K;
  each_of(chunks.heads, K * K, [&](std::int64_t head, std::int64_t index) {
    const MesaChunk<Scalar> tokens{chunks, head};
    const std::int64_t c = index / K;
    const std::int64_t d = index % K;
    Scalar H = Hkk[head * K * K + index];
    for (std::int64_t t = first; t < end; ++t) {
      H = tokens.gamma[t] * H + tokens.beta[t] * tokens.k[t * K + c] * tokens.k[t * K + d];
      rooms.M[(head * (end - first) + t - first) * K * K + index] = H + tokens.ridge[index];
    }
    Hkk[head * K * K + index] = H;
  });
}

/// x_t = M_t^{-1} q_t: a block for each token.
template <class Scalar>
__global__ void __launch_bounds__(threads_of_block)
    solve_systems(const MesaChunks<Scalar> chunks, const SolveRooms<Scalar> rooms, bool is_shared,
                  std::int64_t first, std::int64_t end) {
  const std::int64_t K = chunks.K;
  const std::int64_t head = blockIdx.x / (end - first);
  const std::int64_t row = head * chunks.L + first + blockIdx.x % (end - first);
  Scalar* const x = chunks.X + row * K;
  each(K, [&](std::int64_t d) { x[d] = chunks.q[row * K + d]; });
  const SolveRoom<Scalar> given = room_of(rooms, blockIdx.x, K);
  const SolveRoom<Scalar> room = is_shared ? shared_room<Scalar>(K) : given;
  if (is_shared) {
    each(K, K, [&](std::int64_t c, std::int64_t d) { room.M[c * room.stride + d] = given.M[c * K + d]; });
  }
  solve(K, room, x);
}

}  // namespace

/// Whole heads in chunks, or all tokens of a block as one.
template <class Scalar>
class FamilyRun<MesaRows, Scalar> : public AnyFamily {
 public:
  using Rows = MesaRows<Scalar>;

  explicit FamilyRun(HeadsOnDevice<MesaRows, Scalar>& device)
      : device_(device), request_(device.request), T_(device.first().q.rows()) {}

  static double bytes(const EngineRequest& request, const Rows& head, const Carried<Scalar>&) {
    const Index rows = std::max<Index>(head.q.rows(), 1);
    const auto T = static_cast<double>(head.q.rows());
    const auto n = static_cast<double>(rows_of_chunk(request, rows));
    const auto K = static_cast<double>(head.k.cols());
    const auto V = static_cast<double>(head.v.cols());
    const double tables = request.form == Form::recurrent ? 0 : 2 * n;
    return sizeof(Scalar) * ((T + n) * (tables + 7 * K + 2 * V + 4) + (T / n + 2) * K * (K + V));
  }

  std::vector<Matrix<Scalar>> run() {
    if (T_ == 0)
      return std::vector<Matrix<Scalar>>(device_.states().size(),
                                         Matrix<Scalar>(0, device_.first().v.cols()));
    upload(rows_of_chunk(request_, T_));
    if (request_.form == Form::recurrent)
      walk();
    else if (request_.form == Form::chunkwise)
      solve_chunks();
    else
      solve_tokens();
    if (request_.tap) record();
    return finish();
  }

 private:
  static Index rows_of_chunk(const EngineRequest& request, Index T) {
    return request.form == Form::chunkwise && !request.phase ? std::min(request.chunk_size, T) : T;
  }

  /// In chunks of L tokens, with room for what they make.
  void upload(Index L) {
    const Index H = device_.count();
    const Index C = (T_ + L - 1) / L;
    const Index K = device_.first().k.cols();
    const Index V = device_.first().v.cols();
    // Those that fill the last chunk hold `filler`.
    const auto filled = [&](Matrix<Scalar> Rows::*rows, Scalar filler) {
      return [=](const Rows& head) {
        const Matrix<Scalar>& given = head.*rows;
        Matrix<Scalar> all = Matrix<Scalar>::Constant(C * L, given.cols(), filler);
        all.topRows(given.rows()) = given;
        return all;
      };
    };
    const auto make = [&](const char* name, Index columns) {
      return device_.make(name, H * C, L, columns).data();
    };
    chunks_ = MesaChunks<Scalar>{.heads = H,
                                 .chunks = C,
                                 .L = L,
                                 .K = K,
                                 .V = V,
                                 .q = device_.rows(filled(&Rows::q, 0)).data(),
                                 .k = device_.rows(filled(&Rows::k, 0)).data(),
                                 .v = device_.rows(filled(&Rows::v, 0)).data(),
                                 .beta = device_.upload(filled(&Rows::beta, 0)).data(),
                                 .gamma = device_.upload(filled(&Rows::gamma, 1)).data(),
                                 .ridge = device_.upload(&Rows::ridge).data()};
    states_ = &device_.changed([&](const Carried<Scalar>& state) {
      Matrix<Scalar> all = Matrix<Scalar>::Zero((C + 1) * K, K + V);
      all.topRows(K) = state.front();
      return all;
    });
    chunks_.state = states_->data();
    chunks_.X = make("X", K);
    chunks_.O = device_.outputs(C * L, V).data();
    if (request_.form == Form::recurrent) return;
    chunks_.W = make("W", L);
    chunks_.A = make("A", L);
    chunks_.g_in = make("g_in", 1);
    chunks_.g_out = make("g_out", 1);
    chunks_.G = device_.tapped("G", L, L);
    chunks_.Q_back = device_.tapped("Q_back", L, K);
    chunks_.inter = device_.tapped("O_inter", L, V);
    chunks_.intra = device_.tapped("O_intra", L, V);
    if (request_.form == Form::parallel) return;
    for (Scalar** const room : {&chunks_.R, &chunks_.P, &chunks_.MP, &chunks_.preconditioner})
      *room = make("", K);
  }

  /// Room for solves of as many blocks.
  SolveRooms<Scalar> make_rooms(Index blocks) {
    const Index K = chunks_.K;
    return {blocks, device_.make("", blocks, K, K).data(), device_.make_indices(blocks * K)};
  }

  /// W, g_in and g_out, and from the state before the first chunk those after it.
  void make_states() const {
    launch(fill_columns<Scalar>, of_each_chunk(chunks_.L), chunks_);
    launch(chain_elements<Scalar>, grid_of_each(chunks_.heads, chunks_.K * (chunks_.K + chunks_.V)), chunks_);
  }

  /// A and O, from X.
  void read() const {
    launch(fill_scores<Scalar>, of_tiles(chunks_.L), chunks_);
    launch(read_elements<Scalar>, of_tiles(chunks_.V), chunks_);
    if (chunks_.Q_back) launch(multiply_solutions<Scalar>, of_each_chunk(chunks_.L * chunks_.K), chunks_);
  }

  /// A block for every tile of the rows of a chunk and as many columns.
  Grid of_tiles(Index columns) const {
    return {{blocks_for(QueryTile<Scalar>::tiles(chunks_.L, columns)),
             blocks_for(std::min(chunks_.heads * chunks_.chunks, most_grid_blocks))},
            threads_of_block};
  }

  Grid of_each_chunk(Index count) const { return grid_of_each(chunks_.heads * chunks_.chunks, count); }

  /// Recurrent; a tap receives what the last token makes.
  void walk() {
    constexpr Index at_once = 64;
    const std::size_t shared = bytes_of_shared_room<Scalar>(chunks_.K);
    Scalar* const decayed = device_.tapped("decayed", chunks_.K, chunks_.K + chunks_.V);
    const SolveRooms<Scalar> rooms = make_rooms(chunks_.heads);
    device_.compute([&] {
      device_.in_parts(T_, at_once, [&](Index first, Index count) {
        launch(walk_tokens<Scalar>, {blocks_for(chunks_.heads), threads_of_walk, shared}, chunks_, rooms,
               shared > 0, first, first + count, decayed);
        await_device();
      });
    });
  }

  /// Chunkwise: all chunks at once, and their outputs.
  void solve_chunks() {
    constexpr Index most_blocks = 1024;  // more than a device holds at the same time
    const Index wanted = chunks_.heads * chunks_.chunks * blocks_for(chunks_.L, queries_of_block);
    const SolveRooms<Scalar> rooms = make_rooms(std::clamp<Index>(wanted, 1, most_blocks));
    device_.compute([&] {
      make_states();
      stop_if_asked(request_.stop);
      launch(solve_queries<Scalar>, {blocks_for(rooms.blocks), threads_of_block}, chunks_, rooms);
      await_device();
      stop_if_asked(request_.stop);
      read();
    });
  }

  /// Parallel: some tokens of all heads at once, and their outputs.
  void solve_tokens() {
    const Index K = chunks_.K;
    const Index at_once = fitting(sizeof(Scalar) * static_cast<double>(chunks_.heads * K * K), chunks_.L);
    Scalar* const Hkk =
        device_
            .changed([&](const Carried<Scalar>& state) { return Matrix<Scalar>(state.front().leftCols(K)); })
            .data();
    const SolveRooms<Scalar> rooms = make_rooms(chunks_.heads * at_once);
    const std::size_t shared = bytes_of_shared_room<Scalar>(K);
    device_.compute([&] {
      make_states();
      device_.in_parts(chunks_.L, at_once, [&](Index first, Index count) {
        launch(form_systems<Scalar>, grid_of_each(chunks_.heads, K * K), chunks_, rooms, first, first + count,
               Hkk);
        launch(solve_systems<Scalar>, {blocks_for(chunks_.heads * count), threads_of_block, shared}, chunks_,
               rooms, shared > 0, first, first + count);
        await_device();
      });
      read();
    });
  }

  /// What a block has been given and has made, for a tap; of tokens one after the other the last.
  void record() const {
    const Rows& rows = device_.first();
    device_.record("ridge", rows.ridge);
    if (request_.form == Form::recurrent) {
      device_.record("gamma", rows.gamma.bottomRows(1));
      device_.record("beta", rows.beta.bottomRows(1));
      record_state("_decayed", device_["decayed"]);
      device_.record("x", device_["X"].transpose());
    } else {
      device_.record("gamma", rows.gamma);
      device_.record("beta", rows.beta);
      device_.record_all();
      device_.record("g_total", device_["g_in"].bottomRows(1));
    }
  }

  /// Both halves of a state for the tap.
  void record_state(const std::string& when, const MesaState<Scalar>& H) const {
    device_.record("Hkk" + when, H.leftCols(H.rows()));
    device_.record("Hkv" + when, H.rightCols(H.cols() - H.rows()));
  }

  /// Downloads the states, and returns the outputs of every head.
  std::vector<Matrix<Scalar>> finish() {
    const auto states = device_.states();
    record_state(device_.before(), states.front().front());
    const Index last = request_.form == Form::recurrent ? 0 : chunks_.chunks;
    const std::vector<MesaState<Scalar>> all = states_->download();
    for (std::size_t head = 0; head < all.size(); ++head)
      states[head].front() = all[head].middleRows(last * chunks_.K, chunks_.K);
    record_state(device_.after(), states.front().front());
    std::vector<Matrix<Scalar>> answers = device_.finish();
    for (Matrix<Scalar>& o : answers) o.conservativeResize(T_, Eigen::NoChange);
    return answers;
  }

  HeadsOnDevice<MesaRows, Scalar>& device_;
  const EngineRequest& request_;
  Index T_;
  MesaChunks<Scalar> chunks_;
  DeviceMatrices<Scalar>* states_ = nullptr;
};

PALIMPSEST_CUDA_ENGINES(, MesaRows);

}  // namespace palimpsest::cuda
