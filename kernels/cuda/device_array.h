#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "kernels/cuda/check.h"
#include "kernels/cuda/run_clock.h"

namespace palimpsest {

/// `size` elements of device memory out of the device's pool, given back at the end. Fresh memory holds NaN,
/// so that what a kernel forgets to write is seen. Throws Error saying how much was wanted and how much is
/// free where the device has not enough.
template <class Scalar>
class DeviceArray {
 public:
  DeviceArray() = default;
  // Complete before it begins: so its memory is given back too where only the clock fails.
  explicit DeviceArray(std::size_t size) : DeviceArray() {
    size_ = size;
    if (size_ == 0) return;
    cuda::RunClock::moving(&RunTimes::allocations,
                           [&] { data_ = static_cast<Scalar*>(allocate_on_device(bytes(size_))); });
  }
  ~DeviceArray() { release(); }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    if (this == &other) return *this;
    release();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  Scalar* data() { return data_; }
  const Scalar* data() const { return data_; }
  std::size_t size() const { return size_; }

  /// Copies `count` elements from the host, to those from `first` on.
  void upload(const Scalar* from, std::size_t count, std::size_t first = 0) {
    if (count > 0) copy(data_ + first, from, count, cudaMemcpyHostToDevice);
  }

  /// Copies `count` elements from `first` on to the host, once the kernels before it are done.
  void download(Scalar* to, std::size_t count, std::size_t first = 0) const {
    if (count > 0) copy(to, data_ + first, count, cudaMemcpyDeviceToHost);
  }

 private:
  static std::size_t bytes(std::size_t count) { return count * sizeof(Scalar); }

  static void copy(Scalar* to, const Scalar* from, std::size_t count, cudaMemcpyKind direction) {
    cuda::RunClock::moving(&RunTimes::transfers,
                           [&] { CHECK_CUDA(cudaMemcpy(to, from, bytes(count), direction)); });
  }

  void release() noexcept {
    if (data_) cudaFreeAsync(data_, nullptr);
  }

  Scalar* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace palimpsest
