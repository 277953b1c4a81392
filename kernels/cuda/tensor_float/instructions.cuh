#pragma once

#include <cstdint>

// The instructions that the kernels of tensor_float use, for compute capability 8.0 and up.

namespace palimpsest::tensor_float {

/// The nearest tf32, halves away from 0, as tensor cores take it.
__device__ inline std::uint32_t rounded(float x) {
  std::uint32_t bits = 0;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
#endif
  return bits;
}

/// The same number in f32.
__device__ inline float as_tf32(float x) { return __uint_as_float(rounded(x)); }

/// A left factor of [16, 8] in one warp. With g = lane / 4 and t = lane % 4 a lane has (g, t), (g + 8, t),
/// (g, t + 4), (g + 8, t + 4).
struct Left {
  std::uint32_t at[4];
};

/// sums = sums + left right, by one warp. Of the right factor, [8, 8], a lane has (t, g) and (t + 4, g); of
/// the sums, [16, 8], it has (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1).
__device__ inline void multiply(float (&sums)[4], const Left& left, std::uint32_t first,
                                std::uint32_t second) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(left.at[0]), "r"(left.at[1]), "r"(left.at[2]), "r"(left.at[3]), "r"(first), "r"(second));
#endif
}

/// Sums as a left factor. A product adds over its inner index in any order: here its place t is column 2 t of
/// the sums and t + 4 is 2 t + 1, so that no number changes lanes; the right factor has to be taken likewise.
__device__ inline Left as_left(const float (&sums)[4]) {
  return {rounded(sums[0]), rounded(sums[2]), rounded(sums[1]), rounded(sums[3])};
}

/// Starts a copy of four numbers from global to shared memory.
__device__ inline void copy_four(float* to, const float* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
               "l"(from)
               : "memory");
#endif
}

/// All copies that this thread has started since the last call become one group.
__device__ inline void close_group() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until all groups of this thread but the last `open` have arrived.
template <int open>
__device__ void await_groups() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(open) : "memory");
#endif
}

}  // namespace palimpsest::tensor_float
