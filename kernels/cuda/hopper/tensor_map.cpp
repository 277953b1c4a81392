#include "kernels/cuda/hopper/pack.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "kernels/cuda/check.h"

namespace palimpsest {

namespace {

/// cuTensorMapEncodeTiled of the driver, which is asked for it, so that the program starts without one.
decltype(&cuTensorMapEncodeTiled) encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = {};
#if CUDART_VERSION >= 12050
  CHECK_CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault,
                                              &found));
#else
  CHECK_CUDA(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found));
#endif
  if (found != cudaDriverEntryPointSuccess || !function)
    throw Error("the driver has no cuTensorMapEncodeTiled; expected one for CUDA 12 or newer");
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
}

}  // namespace

CUtensorMap tensor_map(const void* data, std::int64_t channels, std::int64_t T, std::int64_t heads,
                       std::int64_t batches, std::int64_t token_stride, std::int64_t head_stride,
                       std::int64_t batch_stride) {
  static const auto encode = encoder();
  const auto size = [](std::int64_t count) {
    return static_cast<cuuint64_t>(std::max<std::int64_t>(count, 1));
  };
  // An axis of one has no stride; the driver wants some multiple of 16 bytes all the same.
  const auto bytes = [](std::int64_t count, std::int64_t stride) {
    return static_cast<cuuint64_t>(count > 1 ? 2 * stride : 16);
  };
  const cuuint64_t sizes[4] = {size(channels), size(T), size(heads), size(batches)};
  const cuuint64_t strides[3] = {bytes(T, token_stride), bytes(heads, head_stride),
                                 bytes(batches, batch_stride)};
  const cuuint32_t tile[4] = {64, 64, 1, 1};
  const cuuint32_t steps[4] = {1, 1, 1, 1};
  CUtensorMap map = {};
  const CUresult result =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, const_cast<void*>(data), sizes, strides, tile, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw Error(fmt::format("cuTensorMapEncodeTiled refused [B {}, T {}, H {}, {} channels]: error {}",
                            batches, T, heads, channels, static_cast<int>(result)));
  return map;
}

}  // namespace palimpsest
