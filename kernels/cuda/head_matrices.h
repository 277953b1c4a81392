#pragma once

#include <cstdint>
#include <type_traits>

namespace palimpsest {

/// One array of all heads in device memory: [head, token, column]. Columns lie side by side, the other
/// strides are in elements.
template <class Scalar>
struct DeviceRows {
  Scalar* data = nullptr;
  std::int64_t token_stride = 0;
  std::int64_t head_stride = 0;

  /// The same from row `row` of head `head` on; absent where this is.
  DeviceRows from(std::int64_t head, std::int64_t row) const {
    DeviceRows later = *this;
    if (data) later.data += head * head_stride + row * token_stride;
    return later;
  }

#ifdef __CUDACC__
  /// Token 0 of one head, and any token.
  __device__ Scalar* at(std::int64_t head) const { return data + head * head_stride; }
  __device__ Scalar* row(std::int64_t head, std::int64_t token) const {
    return at(head) + token * token_stride;
  }
#endif
};

/// A matrix of every head in device memory. Strides are in elements; those of a transposed one are swapped.
template <class Scalar>
struct HeadMatrices {
  Scalar* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;
  std::int64_t head_stride = 0;

  HeadMatrices transposed() const { return {data, columns, rows, column_stride, row_stride, head_stride}; }

  HeadMatrices middle_rows(std::int64_t first, std::int64_t count) const {
    return {data + first * row_stride, count, columns, row_stride, column_stride, head_stride};
  }

  /// The same, only read.
  template <class Const>
  requires std::is_same_v<Const, const Scalar>
  operator HeadMatrices<Const>() const {
    return {data, rows, columns, row_stride, column_stride, head_stride};
  }

#ifdef __CUDACC__
  __device__ Scalar& operator()(std::int64_t head, std::int64_t row, std::int64_t column) const {
    return data[head * head_stride + row * row_stride + column * column_stride];
  }
#endif
};

/// A read-only matrix; Scalar is deduced from another argument.
template <class Scalar>
using GivenMatrices = std::type_identity_t<HeadMatrices<const Scalar>>;

/// D = a A B + b C of every head: [M, N] from [M, K], [K, N] and [M, N]. C may be D, and is not read where b
/// is 0. Throws Error with CUDA's words.
template <class Scalar>
void multiply(std::int64_t heads, std::type_identity_t<Scalar> a, const GivenMatrices<Scalar>& A,
              const GivenMatrices<Scalar>& B, std::type_identity_t<Scalar> b, const GivenMatrices<Scalar>& C,
              const HeadMatrices<Scalar>& D);

namespace cuda {

/// What is rounded. Everything else stays as it is.
enum class Rounding {
  none,
  bf16,  // q, k and v before the kernels, and outputs after them
  tf32   // the factors of matrix products on tensor cores, inside the kernels that have them
};

/// Rounds `count` numbers on the device, in place, to the nearest bf16; of two equally near to the one
/// whose last bit is 0. Throws Error with CUDA's words.
template <class Scalar>
void round_to_bf16(Scalar* numbers, std::int64_t count);

}  // namespace cuda

}  // namespace palimpsest
