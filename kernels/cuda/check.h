#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/base/error.h"

namespace palimpsest {

/// Blocks of a grid along its second or third axis, at most.
inline constexpr std::int64_t most_grid_blocks = 65535;

/// Whether a call succeeded. Clears the error of one that failed, so that later calls do not see it.
inline bool succeeded(cudaError_t status) {
  if (status == cudaSuccess) return true;
  cudaGetLastError();
  return false;
}

/// Throws Error with the call, its place and CUDA's words for `status`, unless that is success.
inline void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
  if (succeeded(status)) return;
  throw Error(std::string(call) + " failed at " + file + ":" + std::to_string(line) + ": " +
              cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")");
}

/// Bytes of device memory.
struct DeviceMemory {
  std::size_t free = 0;
  std::size_t total = 0;
};

/// Of the first device. Throws Error with CUDA's words.
DeviceMemory memory_of_device();

/// `bytes` > 0 bytes of device memory filled with NaN, from the pool that the device keeps between runs.
/// Throws Error saying what was wanted, what is free and what to do if there is not enough.
void* allocate_on_device(std::size_t bytes);

}  // namespace palimpsest

/// Every call into CUDA goes through this.
#define CHECK_CUDA(call) ::palimpsest::check_cuda((call), #call, __FILE__, __LINE__)
