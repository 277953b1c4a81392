#pragma once

#include <cstddef>
#include <utility>

#include "kernels/cuda/check.h"

namespace palimpsest {

/// `size` elements of device memory, freed at the end. Fresh memory holds NaN, so that what a kernel forgets
/// to write is seen.
template <class Scalar>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size) : size_(size) {
    if (size_ == 0) return;
    CHECK_CUDA(cudaMalloc(&data_, bytes(size_)));
    const cudaError_t poisoned = cudaMemset(data_, 0xff, bytes(size_));
    if (poisoned != cudaSuccess) cudaFree(data_);
    CHECK_CUDA(poisoned);
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  DeviceArray& operator=(DeviceArray&&) = delete;

  Scalar* data() { return data_; }
  const Scalar* data() const { return data_; }
  std::size_t size() const { return size_; }

  /// Copies the first `count` elements from the host.
  void upload(const Scalar* from, std::size_t count) {
    CHECK_CUDA(cudaMemcpy(data_, from, bytes(count), cudaMemcpyHostToDevice));
  }

  /// Copies the first `count` elements to the host, once the kernels before it are done.
  void download(Scalar* to, std::size_t count) const {
    CHECK_CUDA(cudaMemcpy(to, data_, bytes(count), cudaMemcpyDeviceToHost));
  }

 private:
  static std::size_t bytes(std::size_t count) { return count * sizeof(Scalar); }

  Scalar* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace palimpsest
