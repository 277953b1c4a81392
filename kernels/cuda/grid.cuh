#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/cuda/check.h"

namespace palimpsest {

/// How many blocks of `places` places are needed for `count`.
inline unsigned blocks_for(std::int64_t count, int places = 1) {
  return static_cast<unsigned>((count + places - 1) / places);
}

/// Bytes of shared memory that a block of the device may have.
inline std::int64_t most_shared_bytes() {
  int most = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  return most;
}

/// `wanted` bytes if a block may have them; else 0.
inline std::size_t shared_bytes_or_none(std::int64_t wanted) {
  return wanted <= most_shared_bytes() ? static_cast<std::size_t>(wanted) : 0;
}

inline int multiprocessors() {
  int count = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  return count;
}

/// Blocks of threads, bytes of shared memory besides what a kernel declares, and where in the program they
/// were asked for.
struct Grid {
  dim3 blocks;
  dim3 threads;
  std::size_t shared;
  const char* file;
  int line;

  Grid(dim3 blocks_, dim3 threads_, std::size_t shared_ = 0, const char* file_ = __builtin_FILE(),
       int line_ = __builtin_LINE())
      : blocks(blocks_), threads(threads_), shared(shared_), file(file_), line(line_) {}
};

/// Starts a kernel; does nothing where there are no blocks. Throws Error with CUDA's words.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), const Grid& grid,
            const std::type_identity_t<Parameters>&... arguments) {
  if (grid.blocks.x == 0 || grid.blocks.y == 0 || grid.blocks.z == 0) return;
  const auto check = [&](cudaError_t status, const char* call) {
    check_cuda(status, call, grid.file, grid.line);
  };
  constexpr std::size_t without_asking = 48 * 1024;
  if (grid.shared > without_asking) {
    const auto ask = [&](cudaFuncAttribute attribute, int value) {
      check(cudaFuncSetAttribute(kernel, attribute, value), "cudaFuncSetAttribute");
    };
    ask(cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(grid.shared));
    // Otherwise the driver may leave so much to the cache that a multiprocessor holds only one block.
    ask(cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
  }
  kernel<<<grid.blocks, grid.threads, grid.shared>>>(arguments...);
  check(cudaGetLastError(), "cudaGetLastError()");
}

/// Calls use(std::bool_constant<..>, ..) for these switches: what selects a kernel is a template argument.
template <class Use, class... Switches>
void with_constants(Use use, bool first, Switches... others) {
  const auto go_on = [&](auto constant) {
    if constexpr (sizeof...(others) == 0)
      use(constant);
    else
      with_constants([&](auto... further) { use(constant, further...); }, others...);
  };
  first ? go_on(std::true_type()) : go_on(std::false_type());
}

/// The number of this thread in a grid of one axis.
__device__ inline std::int64_t thread_number() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

/// Threads of a block where one takes element i of every chunk or head: blocks along x for the elements, and
/// along y for chunks or heads, which take turns where they are too many.
inline constexpr int threads_of_each = 128;

/// Such blocks for `count` elements of as many chunks or heads.
inline Grid grid_of_each(std::int64_t chunks, std::int64_t count, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE()) {
  return {{blocks_for(count, threads_of_each), blocks_for(std::min(chunks, most_grid_blocks))},
          threads_of_each,
          0,
          file,
          line};
}

/// Calls visit(n, i) for all i < count of every chunk or head n that is this block's.
template <class Visit>
__device__ void each_of(std::int64_t chunks, std::int64_t count, Visit visit) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads_of_each + threadIdx.x;
  if (i >= count) return;
  for (std::int64_t n = blockIdx.y; n < chunks; n += gridDim.y) visit(n, i);
}

/// Calls visit(i) for i < count, or visit(i, j) for i < rows and j < columns, fully unrolled.
template <int count, class Visit>
__device__ __forceinline__ void unrolled(Visit visit) {
#pragma unroll
  for (int i = 0; i < count; ++i) visit(i);
}
template <int rows, int columns, class Visit>
__device__ __forceinline__ void unrolled(Visit visit) {
  unrolled<rows>([&](int i) { unrolled<columns>([&](int j) { visit(i, j); }); });
}

inline constexpr int warp_size = 32;

/// combine of the values of a warp's lanes, or of each group of `lanes` neighbours, in all of them; their
/// sum; their maximum.
template <int lanes = warp_size, class Scalar, class Combine>
__device__ Scalar over_lanes(Scalar x, Combine combine) {
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    x = combine(x, __shfl_xor_sync(0xffffffffU, x, distance));
  return x;
}
template <int lanes = warp_size, class Scalar>
__device__ Scalar sum_of_lanes(Scalar x) {
  return over_lanes<lanes>(x, [](Scalar a, Scalar b) { return a + b; });
}
template <class Scalar>
__device__ Scalar largest_of_lanes(Scalar x) {
  return over_lanes(x, [](Scalar a, Scalar b) { return max(a, b); });
}

/// Calls put(i, take(i)) for i = first, first + step and so on below `end`, by one thread, which takes a few
/// before it puts the first of them: what it reads for one does not wait until another is written.
template <class Index, class Take, class Put>
__device__ void few_at_once(Index first, std::type_identity_t<Index> end, std::type_identity_t<Index> step,
                            Take take, Put put) {
  constexpr int few = 4;
  for (Index i = first; i < end; i += few * step) {
    decltype(take(i)) taken[few];
    // Beyond the end the first one is read again: no load waits for a branch.
#pragma unroll
    for (int n = 0; n < few; ++n) taken[n] = take(i + n * step < end ? i + n * step : i);
#pragma unroll
    for (int n = 0; n < few; ++n) {
      if (i + n * step < end) put(i + n * step, taken[n]);
    }
  }
}

/// More parts of a state than any variant has.
inline constexpr int largest_part_count = 4;

/// Throws Error if a kernel has no room for `parts` parts.
inline void require_part_count(long long parts) {
  if (parts <= largest_part_count) return;
  throw Error("a state of " + std::to_string(parts) + " parts; the CUDA kernels hold at most " +
              std::to_string(largest_part_count));
}

/// e^x, and 0 below the smallest normal number, as core/numbers/exponential.h has it.
template <class Scalar>
__device__ Scalar exponential(Scalar x) {
  constexpr Scalar lowest = std::is_same_v<Scalar, double> ? Scalar(-708.39) : Scalar(-87.33);
  return x < lowest ? Scalar(0) : exp(x);
}

/// alpha, from a gate that is alpha itself or its logarithm.
template <class Scalar>
__device__ Scalar decay_of(Scalar gate, bool is_log) {
  return is_log ? exponential(gate) : gate;
}

}  // namespace palimpsest
