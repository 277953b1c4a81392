// The recurrent form of every row program, written to be read (spec 2.2).
//
// For how blocks share the columns of S, which are independent (spec 1.4), see docs/kernels.md. The fast
// variant for common structures is recurrent_registers.cu.

#include <cuda_pipeline_primitives.h>

#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/row_kernels.h"

namespace palimpsest {

namespace {

constexpr int most_columns = 8;                    // of a block: a warp each
constexpr std::int64_t most_rows_at_once = 16;     // of the inputs in shared memory
constexpr std::int64_t bytes_of_rows = 48 * 1024;  // what they take of it, unless one row takes more

/// What a block takes at a time, and keeps in shared memory where it fits.
struct Room {
  int columns = 0;           // of S, a warp each: [columns, p K]
  int rows = 0;              // of the inputs; 0: nothing fits
  std::size_t of_state = 0;  // numbers
  std::size_t numbers = 0;   // in all
};

/// Some rows of an input, in shared memory or where they lie.
template <class Scalar, class Stride>
struct Rows {
  const Scalar* first = nullptr;
  Stride stride = 0;

  __device__ const Scalar* operator[](Stride i) const { return first ? first + i * stride : nullptr; }
};

template <class Scalar, bool is_shared>
__global__ void __launch_bounds__(most_columns* warp_size, 2)
    walk_columns(const RowPrograms<Scalar> rows, const Room room, const RecurrentTap<Scalar> tap) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int warp = threadIdx.x / warp_size;
  const int lane = threadIdx.x % warp_size;
  const std::int64_t first_column = std::int64_t{blockIdx.x} * room.columns;
  const std::int64_t c = first_column + warp;
  const bool has_column = c < rows.V;
  const std::int64_t head = blockIdx.y;
  const int K = static_cast<int>(rows.K);
  const int p = static_cast<int>(rows.parts);
  const std::int64_t V = rows.V;

  // S_kc of part i is S[(i K + k) step]. A lane reads and writes the same k from first to last.
  Scalar* const in_memory = rows.state + head * p * K * V + c;
  Scalar* const in_room = reinterpret_cast<Scalar*>(shared);
  Scalar* const S = is_shared ? in_room + warp * p * K : in_memory;
  const std::conditional_t<is_shared, int, std::int64_t> step = is_shared ? 1 : V;
  const auto each_key = [&](auto visit) {
    for (int k = lane; k < K; k += warp_size) visit(k);
  };
  const auto each_number = [&](auto visit) {
    for (int part = 0; part < p; ++part) each_key([&](int k) { visit(part * K + k); });
  };
  // S_k <- next(k, S_k)
  const auto change = [&](Scalar* column, auto next) {
    few_at_once(
        lane, K, warp_size, [&](int k) { return next(k, column[k * step]); },
        [&](int k, Scalar S_k) { column[k * step] = S_k; });
  };
  if (has_column && is_shared) each_number([&](int k) { S[k] = in_memory[k * V]; });

  Scalar* const o = rows.R > 0 ? rows.o.at(head) + c : nullptr;
  const std::int64_t rows_at_once = is_shared ? room.rows : rows.T;
  for (std::int64_t first = 0; first < rows.T; first += rows_at_once) {
    const std::int64_t count = min(rows_at_once, rows.T - first);
    const std::int64_t first_read = first / rows.rows_per_read;
    const std::int64_t reads =
        max(min((first + count - 1) / rows.rows_per_read + 1, rows.R) - first_read, std::int64_t{0});

    // The next rows, by all warps: one row each, and one after the other.
    __syncthreads();  // all are done with those before
    Scalar* next = in_room + room.of_state;
    using Input = Rows<Scalar, std::conditional_t<is_shared, int, std::int64_t>>;
    const auto bring = [&](const DeviceRows<const Scalar>& array, std::int64_t from, std::int64_t height,
                           std::int64_t column, int width) -> Input {
      if (!array.data) return {};
      const Scalar* const there = array.row(head, from) + column;
      if constexpr (!is_shared) return {there, array.token_stride};
      Scalar* const here = next;
      next += room.rows * width;
      for (std::int64_t i = warp; i < height; i += room.columns) {
        for (std::int64_t j = lane; j < width; j += warp_size)
          __pipeline_memcpy_async(here + i * width + j, there + i * array.token_stride + j, sizeof(Scalar));
      }
      return {here, width};
    };
    const auto bring_rows = [&](const DeviceRows<const Scalar>& array, int width) {
      return bring(array, first, count, 0, width);
    };
    const auto bring_values = [&](const DeviceRows<const Scalar>& array) {
      return bring(array, first, count, first_column,
                   static_cast<int>(min(std::int64_t{room.columns}, V - first_column)));
    };
    const Input q = bring(rows.q, first_read, reads, 0, K);
    const Input keys = bring_rows(rows.k, K);
    const Input erase_keys = rows.erase && rows.a.data != rows.k.data ? bring_rows(rows.a, K) : keys;
    const Input gates = bring_rows(rows.alpha, rows.decays_by_channel ? K : 1);
    const Input plain_keys = bring_rows(rows.k_plain, K);
    const Input values = bring_values(rows.v);
    const Input value_gates = bring_values(rows.mu);
    const Input plain_values = bring_values(rows.v_plain);
    const Input strengths = bring_rows(rows.beta, 1);
    const Input transitions = bring_rows(rows.transition, p * p);
    const Input injects = bring_rows(rows.inject, p);
    const Input erase_sights = bring_rows(rows.erase_sight, p);
    const Input read_sights = bring(rows.read_sight, first_read, reads, 0, p);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    if (!has_column) continue;

    std::int64_t s = first_read;
    std::int64_t row_of_token = first % rows.rows_per_read;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t r = first + i;
      const bool is_tapped = tap.S_before && r == rows.T - 1;

      // S_c^T x; of a state in parts sum_i h_i S^i_c^T x
      const auto seen = [&](const Scalar* x, const Scalar* h) {
        Scalar sum = 0;
        for (int part = 0; part < p; ++part) {
          const Scalar* const column = S + part * K * step;
          Scalar of_part = 0;
#pragma unroll 4
          for (int k = lane; k < K; k += warp_size) of_part += column[k * step] * x[k];
          sum += h ? h[part] * of_part : of_part;
        }
        return sum_of_lanes(sum);
      };
      const auto keep = [&](Scalar* copy) { each_number([&](int k) { copy[k * V + c] = S[k * step]; }); };
      // o_c = S_c^T q
      const auto read = [&] {
        const std::int64_t own = rows.reads_first ? 0 : rows.rows_per_read - 1;
        if (row_of_token != own || s >= rows.R) return;
        const Scalar o_c = seen(q[s - first_read], read_sights[s - first_read]);
        if (lane == 0) o[s * rows.o.token_stride] = o_c;
      };
      if (rows.reads_first) read();

      const Scalar* const a_r = erase_keys[i];
      const Scalar* const h_erase = erase_sights[i];
      const Scalar mu = rows.mu.data ? value_gates[i][warp] : Scalar(1);
      if (is_tapped) keep(tap.S_before);

      // what is erased where it is read before the decay: mu_c S_c^T a
      Scalar old = 0;
      if (rows.erase && rows.erases_undecayed) old = mu * seen(a_r, h_erase);

      // S_kc <- alpha_k mu_c S_kc; of a state in parts S^i <- sum_j T_ij S^j
      if (const Scalar* const T = transitions[i]) {
        each_key([&](int k) {
          Scalar mixed[largest_part_count] = {};
          for (int to = 0; to < p; ++to) {
            for (int from = 0; from < p; ++from) mixed[to] += T[to * p + from] * S[(from * K + k) * step];
          }
          for (int to = 0; to < p; ++to) S[(to * K + k) * step] = mixed[to];
        });
      }
      if (const Scalar* const alpha = gates[i]) {
        const int along = rows.decays_by_channel ? 1 : 0;
        if (rows.gates_are_logs) {
          change(S, [&](int k, Scalar S_k) { return S_k * (exponential(alpha[k * along]) * mu); });
        } else {
          change(S, [&](int k, Scalar S_k) { return S_k * (alpha[k * along] * mu); });
        }
      } else if (rows.mu.data) {
        change(S, [&](int, Scalar S_k) { return S_k * mu; });
      }
      if (is_tapped) keep(tap.S_moved);

      // u_c = v_c - S_c^T a
      if (rows.erase && !rows.erases_undecayed) old = seen(a_r, h_erase);
      Scalar u = rows.writes_value ? values[i][warp] : Scalar(0);
      if (rows.erase) u -= old;

      // S_kc <- S_kc + beta k_k u_c + k+_k v+_c
      const Scalar beta = rows.beta.data ? strengths[i][0] : Scalar(1);
      const Scalar* const k_r = keys[i];
      const Scalar* const inject = injects[i];
      for (int part = 0; part < p; ++part) {
        const Scalar strength = inject ? inject[part] : Scalar(1);
        change(S + part * K * step, [&](int k, Scalar S_k) { return S_k + strength * (beta * k_r[k] * u); });
      }
      if (is_tapped) each_key([&](int k) { tap.update[k * V + c] = beta * k_r[k] * u; });
      if (const Scalar* const k_plain = plain_keys[i]) {
        const Scalar v_plain = plain_values[i][warp];
        change(S, [&](int k, Scalar S_k) { return S_k + k_plain[k] * v_plain; });
        if (is_tapped) each_key([&](int k) { tap.plain_update[k * V + c] = k_plain[k] * v_plain; });
      }
      if (is_tapped && rows.erase && lane == 0) {
        tap.old[c] = old;
        tap.error[c] = u;
      }

      if (!rows.reads_first) read();
      if (++row_of_token < rows.rows_per_read) continue;
      row_of_token = 0;
      ++s;
    }
  }
  if (has_column && is_shared) each_number([&](int k) { in_memory[k * V] = S[k]; });
}

/// Numbers of one row of all inputs that a block brings into shared memory.
template <class Scalar>
std::int64_t numbers_of_a_row(const RowPrograms<Scalar>& rows, std::int64_t columns) {
  const auto if_any = [](const auto& array, std::int64_t width) { return array.data ? width : 0; };
  const bool has_erase_key = rows.erase && rows.a.data != rows.k.data;
  return if_any(rows.q, rows.K) + if_any(rows.k, rows.K) + (has_erase_key ? rows.K : 0) +
         if_any(rows.alpha, rows.decays_by_channel ? rows.K : 1) + if_any(rows.k_plain, rows.K) +
         if_any(rows.v, columns) + if_any(rows.mu, columns) + if_any(rows.v_plain, columns) +
         if_any(rows.beta, 1) + if_any(rows.transition, rows.parts * rows.parts) +
         if_any(rows.inject, rows.parts) + if_any(rows.erase_sight, rows.parts) +
         if_any(rows.read_sight, rows.parts);
}

/// At most half of what a block may have for the state and half for the inputs.
template <class Scalar>
Room room_for(const RowPrograms<Scalar>& rows) {
  const std::int64_t half = most_shared_bytes() / 2 / static_cast<std::int64_t>(sizeof(Scalar));
  const std::int64_t of_column = std::max<std::int64_t>(rows.parts * rows.K, 1);
  const std::int64_t columns = std::clamp<std::int64_t>(half / of_column, 1, most_columns);
  const std::int64_t of_row = std::max<std::int64_t>(numbers_of_a_row(rows, columns), 1);
  if (of_column > half || of_row > half) return {.columns = most_columns};
  const std::int64_t fitting =
      std::min(bytes_of_rows / static_cast<std::int64_t>(sizeof(Scalar)), half) / of_row;
  const std::int64_t rows_at_once = std::clamp<std::int64_t>(fitting, 1, most_rows_at_once);
  return {.columns = static_cast<int>(columns),
          .rows = static_cast<int>(rows_at_once),
          .of_state = static_cast<std::size_t>(columns * of_column),
          .numbers = static_cast<std::size_t>(columns * of_column + rows_at_once * of_row)};
}

}  // namespace

template <class Scalar>
void recurrent_rows(const RowPrograms<Scalar>& rows, const RecurrentTap<Scalar>& tap) {
  require_part_count(rows.parts);
  const Room room = room_for(rows);
  const auto kernel = room.rows > 0 ? walk_columns<Scalar, true> : walk_columns<Scalar, false>;
  launch(kernel,
         {{blocks_for(rows.V, room.columns), blocks_for(rows.heads)},
          static_cast<unsigned>(room.columns * warp_size),
          sizeof(Scalar) * room.numbers},
         rows, room, tap);
}

template void recurrent_rows(const RowPrograms<double>&, const RecurrentTap<double>&);
template void recurrent_rows(const RowPrograms<float>&, const RecurrentTap<float>&);

}  // namespace palimpsest
