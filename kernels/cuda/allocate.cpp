#include <fmt/format.h>

#include <cstdint>

#include "kernels/cuda/check.h"

namespace palimpsest {

namespace {

/// Lets the device keep what was given back: the next run takes it without waiting for the driver.
void keep_memory() {
  static const bool once = [] {
    cudaMemPool_t pool = nullptr;
    CHECK_CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    std::uint64_t everything = UINT64_MAX;
    CHECK_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything));
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace

DeviceMemory memory_of_device() {
  DeviceMemory memory;
  CHECK_CUDA(cudaMemGetInfo(&memory.free, &memory.total));
  return memory;
}

void* allocate_on_device(std::size_t bytes) {
  keep_memory();
  void* data = nullptr;
  const cudaError_t status = cudaMallocAsync(&data, bytes, nullptr);
  if (!succeeded(status) && status == cudaErrorMemoryAllocation) {
    const auto [free, total] = memory_of_device();
    throw Error(fmt::format(
        "the CUDA device has no {:.1f} MB left ({:.0f} of {:.0f} MB are free); use fewer tokens or heads, "
        "smaller chunks, or the CPU",
        static_cast<double>(bytes) / 1e6, static_cast<double>(free) / 1e6, static_cast<double>(total) / 1e6));
  }
  CHECK_CUDA(status);
  CHECK_CUDA(cudaMemsetAsync(data, 0xff, bytes, nullptr));
  return data;
}

}  // namespace palimpsest
