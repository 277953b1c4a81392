#pragma once

#include <limits>

#include "kernels/cuda/grid.cuh"

// What the threads of one block do together. All of them call it, and each function ends with a barrier: what
// one wrote the others see.

namespace palimpsest {

/// Calls visit(i) for i < count, each by one thread.
template <class Visit>
__device__ void each(std::int64_t count, Visit visit) {
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) visit(i);
  __syncthreads();
}

/// Calls visit(i, j) for every element of a matrix, each by one thread, neighbours along a row.
template <class Visit>
__device__ void each(std::int64_t rows, std::int64_t columns, Visit visit) {
  if (columns > 0) {
    // One division for all: from element to element a thread goes as many rows and columns on.
    const std::int64_t row_step = blockDim.x / columns;
    const std::int64_t column_step = blockDim.x % columns;
    std::int64_t i = threadIdx.x / columns;
    std::int64_t j = threadIdx.x % columns;
    while (i < rows) {
      visit(i, j);
      i += row_step;
      j += column_step;
      if (j < columns) continue;
      j -= columns;
      ++i;
    }
  }
  __syncthreads();
}

/// Calls visit(i, lane) for i < count, each by all lanes of one warp.
template <class Visit>
__device__ void each_by_warp(std::int64_t count, Visit visit) {
  const std::int64_t warps = blockDim.x / warp_size;
  for (std::int64_t i = threadIdx.x / warp_size; i < count; i += warps) visit(i, threadIdx.x % warp_size);
  __syncthreads();
}

/// combine of start and term(d) for d < count, in all lanes of the warp that calls it.
template <class Scalar, class Term, class Combine>
__device__ Scalar warp_reduce(std::int64_t count, Scalar start, Term term, Combine combine) {
  Scalar result = start;
  for (std::int64_t d = threadIdx.x % warp_size; d < count; d += warp_size) result = combine(result, term(d));
  return over_lanes(result, combine);
}

/// sum_{d < count} term(d), likewise.
template <class Scalar, class Term>
__device__ Scalar warp_sum(std::int64_t count, Term term) {
  return warp_reduce(count, Scalar(0), term, [](Scalar a, Scalar b) { return a + b; });
}

/// combine of start and term(i, j) for every element of a matrix, for every thread.
template <class Scalar, class Term, class Combine>
__device__ Scalar block_reduce(std::int64_t rows, std::int64_t columns, Scalar start, Term term,
                               Combine combine) {
  __shared__ Scalar of_warps[1024 / warp_size];
  Scalar result = start;
  for (std::int64_t i = threadIdx.x / warp_size; i < rows; i += blockDim.x / warp_size) {
    for (std::int64_t j = threadIdx.x % warp_size; j < columns; j += warp_size)
      result = combine(result, term(i, j));
  }
  result = over_lanes(result, combine);
  if (threadIdx.x % warp_size == 0) of_warps[threadIdx.x / warp_size] = result;
  __syncthreads();
  result = start;
  for (int warp = 0; warp < blockDim.x / warp_size; ++warp) result = combine(result, of_warps[warp]);
  __syncthreads();
  return result;
}

/// The largest number that is no infinity, infinity, the smallest normal number, and the distance from 1 to
/// the next number: device code cannot call what std::numeric_limits has.
template <class Scalar>
inline constexpr Scalar largest_number = std::numeric_limits<Scalar>::max();
template <class Scalar>
inline constexpr Scalar infinite = std::numeric_limits<Scalar>::infinity();
template <class Scalar>
inline constexpr Scalar smallest_number = std::numeric_limits<Scalar>::min();
template <class Scalar>
inline constexpr Scalar rounding_of = std::numeric_limits<Scalar>::epsilon();

/// Room of a block for a solve.
template <class Scalar>
struct SolveRoom {
  Scalar* M = nullptr;            // [K, K]
  std::int64_t stride = 0;        // of its rows
  std::int64_t* order = nullptr;  // [K]
};

/// x <- M^{-1} x for a symmetric positive definite M [K, K], which is used up, by all threads of a block. M =
/// L D L^T without square roots, the rows in the order of their diagonals, largest first: it stays finite
/// where M is not quite definite because of rounding.
template <class Scalar>
__device__ void solve(std::int64_t K, const SolveRoom<Scalar>& room, Scalar* x) {
  Scalar* const M = room.M;
  const std::int64_t stride = room.stride;
  std::int64_t* const order = room.order;
  each(K, [&](std::int64_t i) {
    // A diagonal that is no number comes first, so that every row has a place of its own.
    const auto size = [&](std::int64_t j) {
      const Scalar diagonal = fabs(M[j * stride + j]);
      return diagonal <= largest_number<Scalar> ? diagonal : infinite<Scalar>;
    };
    const Scalar own = size(i);
    std::int64_t place = 0;
    for (std::int64_t j = 0; j < K; ++j) {
      const Scalar other = size(j);
      if (other > own || (other == own && j < i)) ++place;
    }
    order[place] = i;
  });

  // Row a after p: M_ab -= M_ap M_bp / d_p and x_a -= M_ap x_p / d_p; what stays in M_ap is L_ap d_p. A few p
  // at once, so that each M_ab is read and written once for all of them.
  const auto inverse_of = [](Scalar d) {
    return fabs(d) > smallest_number<Scalar> ? Scalar(1) / d : Scalar(0);
  };
  constexpr int few = 4;
  const int size_of_system = static_cast<int>(K);
  const int width = static_cast<int>(stride);
  const int lane = threadIdx.x % warp_size;
  for (int k = 0; k < size_of_system; k += few) {
    const int next = min(k + few, size_of_system);
    // Every thread solves the system of these p by itself; beyond the end all is 0.
    int p[few];
    Scalar own[few][few] = {};
    Scalar inverse[few] = {};
    Scalar x_p[few];
    unrolled<few>([&](int i) { p[i] = static_cast<int>(order[min(k + i, size_of_system - 1)]); });
    unrolled<few, few>([&](int i, int j) {
      if (j <= i && k + i < size_of_system) own[i][j] = M[p[i] * width + p[j]];
    });
    unrolled<few>([&](int i) {
      x_p[i] = x[p[i]];
      unrolled<few, few>([&](int j, int l) {
        if (j < i && l > j && l <= i) own[i][l] -= own[i][j] * inverse[j] * own[l][j];
      });
      unrolled<few>([&](int j) {
        if (j < i) x_p[i] -= own[i][j] * inverse[j] * x_p[j];
      });
      inverse[i] = inverse_of(own[i][i]);
    });
    __syncthreads();
    each(size_of_system - k, [&](std::int64_t below) {
      const int i = static_cast<int>(below);
      const int a = static_cast<int>(order[k + i]);
      Scalar x_a = x[a];
      Scalar left[few];
      unrolled<few>([&](int j) {
        if (k + j >= next) return;
        left[j] = M[a * width + p[j]];
        unrolled<few>([&](int l) {
          if (l < j) left[j] -= left[l] * inverse[l] * own[j][l];
        });
        x_a -= left[j] * inverse[j] * x_p[j];
        if (k + i >= next) M[a * width + p[j]] = left[j];
      });
      if (k + i >= next) x[a] = x_a;
    });
    each(next - k, [&](std::int64_t own_row) {
      unrolled<few, few>([&](int i, int j) {
        if (i != own_row) return;
        if (j <= i) M[p[i] * width + p[j]] = own[i][j];
        if (j == i) x[p[i]] = x_p[i];
      });
    });
    // A lane takes one b, and with it those rows from there on that are its warp's.
    for (int first = next; first < size_of_system; first += warp_size) {
      const int s = first + lane;
      if (s >= size_of_system) continue;
      const int b = static_cast<int>(order[s]);
      Scalar factors[few];
      unrolled<few>([&](int j) { factors[j] = k + j < next ? M[b * width + p[j]] * inverse[j] : Scalar(0); });
      few_at_once(
          first + static_cast<int>(threadIdx.x) / warp_size, size_of_system,
          static_cast<int>(blockDim.x) / warp_size,
          [&](int row) {
            const int a = static_cast<int>(order[row]);
            Scalar left = M[a * width + b];
            unrolled<few>([&](int j) { left -= M[a * width + p[j]] * factors[j]; });
            return left;
          },
          [&](int row, Scalar left) {
            if (s <= row) M[order[row] * width + b] = left;
          });
    }
    __syncthreads();
  }
  // x_p / d_p, then x_a -= L_pa x_p for the rows a before p.
  each(K, [&](std::int64_t i) {
    M[i * stride + i] = inverse_of(M[i * stride + i]);
    x[i] *= M[i * stride + i];
  });
  if (threadIdx.x < warp_size) {
    for (int k = size_of_system - 1; k > 0; --k) {
      const int p = static_cast<int>(order[k]);
      const Scalar x_p = x[p];
      for (int r = lane; r < k; r += warp_size) {
        const int a = static_cast<int>(order[r]);
        x[a] -= M[p * width + a] * M[a * width + a] * x_p;
      }
      __syncwarp();
    }
  }
  __syncthreads();
}

}  // namespace palimpsest
