// The recurrent form of every row program, written to be read (spec 2.2).
//
// Columns of S need nothing of each other (spec 1.4): a thread takes one column c of one head from the first
// row to the last. Its K numbers lie in the final state, S_kc at [k, c], so that neighbouring threads meet
// neighbouring numbers. The fast sibling for one decay per token is recurrent_scalar_decay.cu.

#include "kernels/cuda/check.h"
#include "kernels/cuda/fade.cuh"
#include "kernels/cuda/recurrent_rows.h"

namespace palimpsest {

namespace {

constexpr int threads = 64;

template <class Scalar>
__global__ void walk_columns(const RowPrograms<Scalar> rows, const RecurrentTap<Scalar> tap) {
  const std::int64_t c = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (c >= rows.V) return;
  const std::int64_t batch = blockIdx.y / rows.heads;
  const std::int64_t head = blockIdx.y % rows.heads;
  const std::int64_t K = rows.K;
  const std::int64_t V = rows.V;
  const std::int64_t p = rows.parts;
  const auto row_of = [&](const auto& array, std::int64_t r) {
    return array.at(batch, head) + r * array.token_stride;
  };

  Scalar* const S = rows.final_state + std::int64_t{blockIdx.y} * p * K * V + c;
  const Scalar* const S_0 =
      rows.initial_state ? rows.initial_state + std::int64_t{blockIdx.y} * p * K * V + c : nullptr;
  if (S != S_0) {
    for (std::int64_t k = 0; k < p * K; ++k) S[k * V] = S_0 ? S_0[k * V] : Scalar(0);
  }

  for (std::int64_t r = 0; r < rows.T; ++r) {
    const bool is_tapped = tap.S_before && r == rows.T - 1;
    const Scalar* const k_r = row_of(rows.k, r);
    const Scalar* const a_r = row_of(rows.a, r);

    // S_c^T x; of a state in parts sum_i h_i S^i_c^T x
    const auto seen = [&](const Scalar* x, const Scalar* h) {
      Scalar sum = 0;
      for (std::int64_t i = 0; i < p; ++i) {
        Scalar part = 0;
        for (std::int64_t k = 0; k < K; ++k) part += S[(i * K + k) * V] * x[k];
        sum += h ? h[i] * part : part;
      }
      return sum;
    };
    const auto keep = [&](Scalar* copy) {
      for (std::int64_t k = 0; k < p * K; ++k) copy[k * V + c] = S[k * V];
    };
    // o_c = S_c^T q
    const auto read = [&] {
      const std::int64_t s = r / rows.rows_per_read;
      const std::int64_t own = rows.reads_first ? 0 : rows.rows_per_read - 1;
      if (r % rows.rows_per_read != own || s >= rows.R) return;
      row_of(rows.o, s)[c] = seen(row_of(rows.q, s), rows.has_parts ? row_of(rows.read_sight, s) : nullptr);
    };
    if (rows.reads_first) read();

    const Scalar* const h_erase = rows.has_parts ? row_of(rows.erase_sight, r) : nullptr;
    if (is_tapped) keep(tap.S_before);

    // what is erased where it is read before the decay: mu_c S_c^T a
    Scalar old = 0;
    if (rows.erase && rows.erases_undecayed) {
      old = seen(a_r, h_erase);
      if (rows.mu.data) old *= row_of(rows.mu, r)[c];
    }

    // S_kc <- alpha_k mu_c S_kc; of a state in parts S^i <- sum_j T_ij S^j
    if (rows.has_parts) {
      const Scalar* const T = row_of(rows.transition, r);
      for (std::int64_t k = 0; k < K; ++k) {
        Scalar mixed[largest_part_count] = {};
        for (std::int64_t i = 0; i < p; ++i) {
          for (std::int64_t j = 0; j < p; ++j) mixed[i] += T[i * p + j] * S[(j * K + k) * V];
        }
        for (std::int64_t i = 0; i < p; ++i) S[(i * K + k) * V] = mixed[i];
      }
    }
    if (rows.alpha.data) {
      const Scalar* const alpha = row_of(rows.alpha, r);
      for (std::int64_t k = 0; k < K; ++k)
        S[k * V] *= decay_of(alpha[rows.decays_by_channel ? k : 0], rows.gates_are_logs);
    }
    if (rows.mu.data) {
      for (std::int64_t k = 0; k < K; ++k) S[k * V] *= row_of(rows.mu, r)[c];
    }
    if (is_tapped) keep(tap.S_moved);

    // u_c = v_c - S_c^T a
    if (rows.erase && !rows.erases_undecayed) old = seen(a_r, h_erase);
    Scalar u = rows.writes_value ? row_of(rows.v, r)[c] : Scalar(0);
    if (rows.erase) u -= old;

    // S_kc <- S_kc + beta k_k u_c + k+_k v+_c
    const Scalar beta = rows.beta.data ? row_of(rows.beta, r)[0] : Scalar(1);
    for (std::int64_t k = 0; k < K; ++k) {
      const Scalar update = beta * k_r[k] * u;
      for (std::int64_t i = 0; i < p; ++i)
        S[(i * K + k) * V] += rows.has_parts ? row_of(rows.inject, r)[i] * update : update;
      if (is_tapped) tap.update[k * V + c] = update;
    }
    if (rows.k_plain.data) {
      for (std::int64_t k = 0; k < K; ++k) {
        const Scalar update = row_of(rows.k_plain, r)[k] * row_of(rows.v_plain, r)[c];
        S[k * V] += update;
        if (is_tapped) tap.plain_update[k * V + c] = update;
      }
    }
    if (is_tapped && rows.erase) {
      tap.old[c] = old;
      tap.error[c] = u;
    }

    if (!rows.reads_first) read();
  }
}

}  // namespace

template <class Scalar>
void recurrent_rows(const RowPrograms<Scalar>& rows, const RecurrentTap<Scalar>& tap) {
  require_part_count(rows.parts);
  const dim3 blocks(static_cast<unsigned>((rows.V + threads - 1) / threads),
                    static_cast<unsigned>(rows.batches * rows.heads));
  if (blocks.x == 0 || blocks.y == 0) return;
  walk_columns<<<blocks, threads>>>(rows, tap);
  CHECK_CUDA(cudaGetLastError());
}

template void recurrent_rows(const RowPrograms<double>&, const RecurrentTap<double>&);
template void recurrent_rows(const RowPrograms<float>&, const RecurrentTap<float>&);

}  // namespace palimpsest
