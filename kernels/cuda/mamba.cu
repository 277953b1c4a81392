// Mamba's selective state space (spec 3.14), written to be read. Every cell (d, c) of the state fades at a
// rate of its own, E_t = exp(A o 1 delta_t^T), so that no product of matrices makes a chunk.
//
// Recurrent: a few lanes of a warp take one column of one head from the first token to the last, its K cells,
// which they share, in the final state.
// Chunkwise and parallel: a scan after Hillis and Steele over the pairs (E_t, B_t), one thread per token and
// cell in every pass: a pass over the distance d composes row i with row i - d, so that it then stands for
// 2 d tokens. Only products of numbers in [0, 1] and of those with what was written.

#include "kernels/cuda/check.h"
#include "kernels/cuda/fade.cuh"
#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/mamba.h"

namespace palimpsest {

namespace {

constexpr int threads = 128;
constexpr int columns_of_warp = 4;  // in the recurrent form

/// S_dc <- exp(A_dc delta_c) S_dc + k_d delta_c v_c, o_c = sum_d q_d S_dc + D_c v_c
template <class Scalar>
__global__ void walk(const MambaTokens<Scalar> tokens, const MambaTap<Scalar> tap) {
  const int lane = static_cast<int>(threadIdx.x % warp_size);
  const int slice = lane / columns_of_warp;
  constexpr int slices = warp_size / columns_of_warp;
  const std::int64_t K = tokens.K;
  const std::int64_t V = tokens.V;
  const std::int64_t warps_of_head = (V + columns_of_warp - 1) / columns_of_warp;
  const std::int64_t warp = thread_number() / warp_size;
  const std::int64_t head = warp / warps_of_head;
  if (head >= tokens.heads) return;
  const std::int64_t c = warp % warps_of_head * columns_of_warp + lane % columns_of_warp;
  const bool is_column = c < V;  // all lanes of a warp add up together
  const auto row_of = [&](const auto& array, std::int64_t t) {
    return array.at(0, head) + t * array.token_stride;
  };
  Scalar* const S = tokens.S + head * K * V + c;
  const Scalar* const A = tokens.A.at(0, head) + c;
  for (std::int64_t t = 0; t < tokens.T; ++t) {
    const bool is_tapped = tap.E && t == tokens.T - 1;
    const Scalar* const q = row_of(tokens.q, t);
    const Scalar* const k = row_of(tokens.k, t);
    const Scalar delta = is_column ? row_of(tokens.delta, t)[c] : Scalar(0);
    const Scalar v = is_column ? row_of(tokens.v, t)[c] : Scalar(0);
    const Scalar u = delta * v;
    Scalar read = 0;
    for (std::int64_t d = slice; is_column && d < K; d += slices) {
      const Scalar E = exponential(A[d * V] * delta);
      const Scalar decayed = E * S[d * V];
      const Scalar update = k[d] * u;
      const Scalar after = decayed + update;
      S[d * V] = after;
      read += q[d] * after;
      if (is_tapped) {
        tap.E[d * V + c] = E;
        tap.S_decayed[d * V + c] = decayed;
        tap.update[d * V + c] = update;
      }
    }
    for (int distance = columns_of_warp; distance < warp_size; distance *= 2)
      read += __shfl_xor_sync(0xffffffffU, read, distance);
    if (!is_column || slice != 0) continue;
    if (is_tapped) {
      tap.u[c] = u;
      tap.read[c] = read;
    }
    row_of(tokens.o, t)[c] = tokens.D.data ? read + tokens.D.at(0, head)[c] * v : read;
  }
}

/// U_ic = delta_ic v_ic, E_idc = exp(A_dc delta_ic), B_idc = k_id U_ic
template <class Scalar>
__global__ void make_pairs(const MambaTokens<Scalar> tokens, const MambaTables<Scalar> tables) {
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
void mamba_walk(const MambaTokens<Scalar>& tokens, const MambaTap<Scalar>& tap) {
  if (tokens.T == 0) return;
  const std::int64_t warps = tokens.heads * ((tokens.V + columns_of_warp - 1) / columns_of_warp);
  walk<<<blocks_for(warps * warp_size, threads), threads>>>(tokens, tap);
  CHECK_CUDA(cudaGetLastError());
}

template <class Scalar>
void mamba_pairs(const MambaTokens<Scalar>& tokens, const MambaTables<Scalar>& tables) {
  if (tokens.T == 0) return;
  make_pairs<<<blocks_for(tokens.heads * tokens.T * tokens.K * tokens.V, threads), threads>>>(tokens, tables);
  CHECK_CUDA(cudaGetLastError());
}

template <class Scalar>
void mamba_scan_pass(const MambaTokens<Scalar>& tokens, const MambaTables<Scalar>& tables,
                     std::int64_t distance) {
  compose<<<blocks_for(tokens.heads * tokens.T * tokens.K * tokens.V, threads), threads>>>(tokens, tables,
                                                                                           distance);
  CHECK_CUDA(cudaGetLastError());
}

template <class Scalar>
void mamba_reads(const MambaTokens<Scalar>& tokens, const MambaTables<Scalar>& tables) {
  if (tokens.T == 0) return;
  read_states<<<blocks_for(tokens.heads * tokens.T * tokens.V, threads), threads>>>(tokens, tables);
  CHECK_CUDA(cudaGetLastError());
  take_last<<<blocks_for(tokens.heads * tokens.K * tokens.V, threads), threads>>>(tokens, tables);
  CHECK_CUDA(cudaGetLastError());
}

#define PALIMPSEST_INSTANTIATE(Scalar)                                                                 \
  template void mamba_walk(const MambaTokens<Scalar>&, const MambaTap<Scalar>&);                       \
  template void mamba_pairs(const MambaTokens<Scalar>&, const MambaTables<Scalar>&);                   \
  template void mamba_scan_pass(const MambaTokens<Scalar>&, const MambaTables<Scalar>&, std::int64_t); \
  template void mamba_reads(const MambaTokens<Scalar>&, const MambaTables<Scalar>&);
PALIMPSEST_INSTANTIATE(double)
PALIMPSEST_INSTANTIATE(float)
#undef PALIMPSEST_INSTANTIATE

}  // namespace palimpsest
