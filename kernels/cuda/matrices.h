#pragma once

#include <memory>
#include <span>

#include "kernels/cuda/head_matrices.h"
#include "kernels/cuda/measure.h"

namespace palimpsest {

/// Copies between the host and the device, once the kernels before it are done.
template <class Scalar>
void copy_numbers(Scalar* to, const Scalar* from, std::size_t count, cudaMemcpyKind direction) {
  if (count == 0) return;
  cuda::RunClock::moving(&RunTimes::transfers,
                         [&] { CHECK_CUDA(cudaMemcpy(to, from, count * sizeof(Scalar), direction)); });
}

/// `size` elements of device memory out of the device's pool, given back at the end. Fresh memory holds NaN,
/// so that what a kernel fails to write is noticed. Throws Error saying how much was wanted and how much is
/// free if the device has not enough.
template <class Scalar>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t size) : size_(size) {
    if (size_ == 0) return;
    cuda::RunClock::moving(&RunTimes::allocations, [&] {
      data_.reset(static_cast<Scalar*>(allocate_on_device(size_ * sizeof(Scalar))));
    });
  }

  Scalar* data() { return data_.get(); }
  const Scalar* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

  /// Copies `count` elements from the host, to those from `first` on.
  void upload(const Scalar* from, std::size_t count, std::size_t first = 0) {
    copy_numbers(data() + first, from, count, cudaMemcpyHostToDevice);
  }

 private:
  struct GiveBack {
    void operator()(Scalar* data) const noexcept { cudaFreeAsync(data, nullptr); }
  };

  std::unique_ptr<Scalar, GiveBack> data_;
  std::size_t size_ = 0;
};

/// A matrix that lies on the device, once the kernels before it are done.
template <class Scalar>
Matrix<Scalar> downloaded(const Scalar* data, Index rows, Index columns) {
  Matrix<Scalar> matrix(rows, columns);
  copy_numbers(matrix.data(), data, static_cast<std::size_t>(matrix.size()), cudaMemcpyDeviceToHost);
  return matrix;
}

/// Matrices of the same shape one after the other in device memory, one per head: [H, rows, columns].
template <class Scalar>
class DeviceMatrices {
 public:
  DeviceMatrices() = default;

  /// Room for `heads` of them.
  DeviceMatrices(Index heads, Index rows, Index columns)
      : heads_(heads),
        rows_(rows),
        columns_(columns),
        numbers_(static_cast<std::size_t>(heads * rows * columns)) {}

  explicit DeviceMatrices(const Matrix<Scalar>& matrix) : DeviceMatrices(1, matrix.rows(), matrix.cols()) {
    numbers_.upload(matrix.data(), numbers_.size());
  }

  /// `of` every head: a member, or what a function makes of it; all of the shape of the first.
  template <class Head, class Of = std::identity>
  static DeviceMatrices of_heads(std::span<const Head> heads, Of of = {}) {
    const Matrix<Scalar>& first = std::invoke(of, heads.front());
    DeviceMatrices all(static_cast<Index>(heads.size()), first.rows(), first.cols());
    const auto of_one = static_cast<std::size_t>(first.size());
    for (std::size_t head = 0; head < heads.size(); ++head) {
      const Matrix<Scalar>& matrix = std::invoke(of, heads[head]);
      all.numbers_.upload(matrix.data(), of_one, of_one * head);
    }
    return all;
  }

  /// Rounds them in place, only to bf16; measurements count it as part of the transfer.
  void round(cuda::Rounding rounding) {
    if (rounding != cuda::Rounding::bf16) return;
    cuda::RunClock::moving(&RunTimes::transfers,
                           [&] { cuda::round_to_bf16(data(), static_cast<std::int64_t>(numbers_.size())); });
  }

  std::size_t size() const { return numbers_.size(); }
  Index heads() const { return heads_; }
  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  Scalar* data() { return numbers_.data(); }
  const Scalar* data() const { return numbers_.data(); }

  /// As kernels take rows: [H, rows, columns].
  operator DeviceRows<Scalar>() { return {data(), columns_, rows_ * columns_}; }
  operator DeviceRows<const Scalar>() const { return {data(), columns_, rows_ * columns_}; }

  /// As kernels take matrices.
  HeadMatrices<Scalar> all() { return {data(), rows_, columns_, columns_, 1, rows_ * columns_}; }
  operator HeadMatrices<Scalar>() { return all(); }
  operator HeadMatrices<const Scalar>() const {
    return {data(), rows_, columns_, columns_, 1, rows_ * columns_};
  }

  /// The matrix of every head, once the kernels before it are done.
  std::vector<Matrix<Scalar>> download() const {
    std::vector<Matrix<Scalar>> all;
    for (Index head = 0; head < heads_; ++head)
      all.push_back(downloaded(data() + head * rows_ * columns_, rows_, columns_));
    return all;
  }

  /// The only matrix.
  Matrix<Scalar> matrix() const { return downloaded(data(), rows_, columns_); }

 private:
  Index heads_ = 0;
  Index rows_ = 0;
  Index columns_ = 0;
  DeviceArray<Scalar> numbers_;
};

}  // namespace palimpsest
