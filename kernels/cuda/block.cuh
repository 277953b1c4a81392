#pragma once

#include <cstdint>

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

/// Calls put(i, take(i)) for i < count, each by one thread: a few at once, see few_at_once().
template <class Take, class Put>
__device__ void each_taken(std::int64_t count, Take take, Put put) {
  few_at_once(std::int64_t{threadIdx.x}, count, blockDim.x, take, put);
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

/// combine of start and term(d) for d < count, for every lane of the warp that asks.
template <class Scalar, class Term, class Combine>
__device__ Scalar warp_reduce(std::int64_t count, Scalar start, Term term, Combine combine) {
  Scalar result = start;
  for (std::int64_t d = threadIdx.x % warp_size; d < count; d += warp_size) result = combine(result, term(d));
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    result = combine(result, __shfl_xor_sync(0xffffffff, result, distance));
  return result;
}

/// sum_{d < count} term(d), likewise.
template <class Scalar, class Term>
__device__ Scalar warp_sum(std::int64_t count, Term term) {
  return warp_reduce(count, Scalar(0), term, [](Scalar a, Scalar b) { return a + b; });
}

/// combine of start and term(i) for i < count, for every thread.
template <class Scalar, class Term, class Combine>
__device__ Scalar block_reduce(std::int64_t count, Scalar start, Term term, Combine combine) {
  __shared__ Scalar of_warps[1024 / warp_size];
  Scalar result = start;
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) result = combine(result, term(i));
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    result = combine(result, __shfl_xor_sync(0xffffffff, result, distance));
  if (threadIdx.x % warp_size == 0) of_warps[threadIdx.x / warp_size] = result;
  __syncthreads();
  result = start;
  for (int warp = 0; warp < blockDim.x / warp_size; ++warp) result = combine(result, of_warps[warp]);
  __syncthreads();
  return result;
}

}  // namespace palimpsest
