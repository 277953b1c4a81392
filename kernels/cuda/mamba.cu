// Mamba's selective state space (spec 3.14), written to be read. Every cell (d, c) of the state fades at a
// rate of its own, E_t = exp(A o 1 delta_t^T), so that no product of matrices makes a chunk.
//
// Recurrent: a warp takes one column of one head from the first token to the last; its K cells lie with their
// A in shared memory, where they fit, or in the final state.
//
// Chunkwise and parallel: a scan after Hillis and Steele over the pairs (E_t, B_t), one thread per token and
// cell in every pass: a pass over the distance d composes row i with row i - d, so that it then stands for
// 2 d tokens. Only products of numbers in [0, 1] and of those with what was written.

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/mamba.h"

namespace palimpsest {

namespace {

constexpr int threads = 128;
constexpr int columns_of_block = 8;  // in the recurrent form: a warp each
constexpr int threads_of_walk = columns_of_block * warp_size;

/// S_dc <- exp(A_dc delta_c) S_dc + k_d delta_c v_c, o_c = sum_d q_d S_dc + D_c v_c
template <class Scalar>
__global__ void __launch_bounds__(threads_of_walk)
    walk_columns(const MambaTokens<Scalar> tokens, bool is_shared, const MambaTap<Scalar> tap) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int lane = static_cast<int>(threadIdx.x % warp_size);
  const int column = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t V = tokens.V;
  const std::int64_t blocks_of_head = (V + columns_of_block - 1) / columns_of_block;
  const std::int64_t head = blockIdx.x / blocks_of_head;
  const std::int64_t c = blockIdx.x % blocks_of_head * columns_of_block + column;
  if (c >= V) return;
  const int K = static_cast<int>(tokens.K);
  const auto row_of = [&](const auto& array, std::int64_t t) {
    return array.at(0, head) + t * array.token_stride;
  };
  // S_dc is S[d step], and so is A_dc. A lane reads and writes the same d from first to last.
  Scalar* const S_given = tokens.S + head * tokens.K * V + c;
  const Scalar* const A_given = tokens.A.at(0, head) + c;
  Scalar* const S_shared = reinterpret_cast<Scalar*>(shared) + column * 2 * tokens.K;
  Scalar* const A_shared = S_shared + K;
  for (int d = lane; is_shared && d < K; d += warp_size) {
    S_shared[d] = S_given[d * V];
    A_shared[d] = A_given[d * V];
  }
  Scalar* const S = is_shared ? S_shared : S_given;
  const Scalar* const A = is_shared ? A_shared : A_given;
  const std::int64_t step = is_shared ? 1 : V;
  for (std::int64_t t = 0; t < tokens.T; ++t) {
    const bool is_tapped = tap.E && t == tokens.T - 1;
    const Scalar* const q = row_of(tokens.q, t);
    const Scalar* const k = row_of(tokens.k, t);
    const Scalar delta = row_of(tokens.delta, t)[c];
    const Scalar v = row_of(tokens.v, t)[c];
    const Scalar u = delta * v;
    Scalar read = 0;
    struct Cell {
      Scalar E;
      Scalar decayed;
      Scalar update;
      Scalar q;
    };
    few_at_once(
        lane, K, warp_size,
        [&](int d) {
          const Scalar E = exponential(A[d * step] * delta);
          return Cell{E, E * S[d * step], k[d] * u, q[d]};
        },
        [&](int d, const Cell& cell) {
          const Scalar after = cell.decayed + cell.update;
          S[d * step] = after;
          read += cell.q * after;
          if (!is_tapped) return;
          tap.E[d * V + c] = cell.E;
          tap.S_decayed[d * V + c] = cell.decayed;
          tap.update[d * V + c] = cell.update;
        });
    read = sum_of_lanes(read);
    if (lane > 0) continue;
    if (is_tapped) {
      tap.u[c] = u;
      tap.read[c] = read;
    }
    row_of(tokens.o, t)[c] = tokens.D.data ? read + tokens.D.at(0, head)[c] * v : read;
  }
  for (int d = lane; is_shared && d < K; d += warp_size) S_given[d * V] = S_shared[d];
}

/// U_ic = delta_ic v_ic, E_idc = exp(A_dc delta_ic), B_idc = k_id U_ic
template <class Scalar>
__global__ void fill_pairs(const MambaTokens<Scalar> tokens, const MambaTables<Scalar> tables) {
  const std::int64_t index = thread_number();
  if (index >= tokens.heads * tokens.T * tokens.K * tokens.V) return;
  const std::int64_t c = index % tokens.V;
  const std::int64_t d = index / tokens.V % tokens.K;
  const std::int64_t row = index / tokens.V / tokens.K;
  const std::int64_t head = row / tokens.T;
  const std::int64_t i = row % tokens.T;
  const Scalar delta = tokens.delta.at(0, head)[i * tokens.delta.token_stride + c];
  const Scalar u = delta * tokens.v.at(0, head)[i * tokens.v.token_stride + c];
  const Scalar A = tokens.A.at(0, head)[d * tokens.A.token_stride + c];
  tables.E[index] = exponential(A * delta);
  tables.B[index] = tokens.k.at(0, head)[i * tokens.k.token_stride + d] * u;
  if (d == 0) tables.U[row * tokens.V + c] = u;
}

/// B_i <- B_i + E_i B_{i-distance}, E_i <- E_i E_{i-distance}
template <class Scalar>
__global__ void compose(const MambaTokens<Scalar> tokens, const MambaTables<Scalar> tables,
                        std::int64_t distance) {
  const std::int64_t cells = tokens.K * tokens.V;
  const std::int64_t index = thread_number();
  if (index >= tokens.heads * tokens.T * cells) return;
  const std::int64_t i = index / cells % tokens.T;
  Scalar E = tables.E[index];
  Scalar B = tables.B[index];
  if (i >= distance) {
    B += E * tables.B[index - distance * cells];
    E *= tables.E[index - distance * cells];
  }
  tables.E_to[index] = E;
  tables.B_to[index] = B;
}

/// S_idc = B_idc + E_idc S_dc in the place of B, o_ic = sum_d q_id S_idc + D_c v_ic
template <class Scalar>
__global__ void read_states(const MambaTokens<Scalar> tokens, const MambaTables<Scalar> tables) {
  const std::int64_t index = thread_number();
  if (index >= tokens.heads * tokens.T * tokens.V) return;
  const std::int64_t c = index % tokens.V;
  const std::int64_t row = index / tokens.V;
  const std::int64_t head = row / tokens.T;
  const std::int64_t i = row % tokens.T;
  const Scalar* const q = tokens.q.at(0, head) + i * tokens.q.token_stride;
  Scalar read = 0;
  for (std::int64_t d = 0; d < tokens.K; ++d) {
    const std::int64_t cell = (row * tokens.K + d) * tokens.V + c;
    tables.B[cell] += tables.E[cell] * tokens.S[(head * tokens.K + d) * tokens.V + c];
    read += q[d] * tables.B[cell];
  }
  if (tables.read) tables.read[index] = read;
  const Scalar v = tokens.v.at(0, head)[i * tokens.v.token_stride + c];
  tokens.o.at(0, head)[i * tokens.o.token_stride + c] =
      tokens.D.data ? read + tokens.D.at(0, head)[c] * v : read;
}

/// S = the state after the last row
template <class Scalar>
__global__ void take_last(const MambaTokens<Scalar> tokens, const MambaTables<Scalar> tables) {
  const std::int64_t cells = tokens.K * tokens.V;
  const std::int64_t index = thread_number();
  if (index >= tokens.heads * cells) return;
  const std::int64_t head = index / cells;
  tokens.S[index] = tables.B[(head * tokens.T + tokens.T - 1) * cells + index % cells];
}

}  // namespace

template <class Scalar>
void MambaTokens<Scalar>::walk(const MambaTap<Scalar>& tap) const {
  if (T == 0) return;
  const auto bytes = static_cast<std::int64_t>(sizeof(Scalar)) * 2 * columns_of_block * K;
  const bool is_shared = bytes > 0 && bytes <= most_shared_bytes();
  launch(walk_columns<Scalar>,
         {blocks_for(heads * blocks_for(V, columns_of_block)), threads_of_walk,
          is_shared ? static_cast<std::size_t>(bytes) : 0},
         *this, is_shared, tap);
}

template <class Scalar>
void MambaTokens<Scalar>::make_pairs(const MambaTables<Scalar>& tables) const {
  launch(fill_pairs<Scalar>, {blocks_for(heads * T * K * V, threads), threads}, *this, tables);
}

template <class Scalar>
void MambaTokens<Scalar>::scan_pass(const MambaTables<Scalar>& tables, std::int64_t distance) const {
  launch(compose<Scalar>, {blocks_for(heads * T * K * V, threads), threads}, *this, tables, distance);
}

template <class Scalar>
void MambaTokens<Scalar>::read(const MambaTables<Scalar>& tables) const {
  if (T == 0) return;
  launch(read_states<Scalar>, {blocks_for(heads * T * V, threads), threads}, *this, tables);
  launch(take_last<Scalar>, {blocks_for(heads * K * V, threads), threads}, *this, tables);
}

template struct MambaTokens<double>;
template struct MambaTokens<float>;

}  // namespace palimpsest
