#pragma once

#include <cstdint>

namespace palimpsest {

/// One array of all heads in device memory: [batch, token, head, column]. Columns lie side by side, the other
/// strides are in elements.
template <class Scalar>
struct DeviceRows {
  Scalar* data = nullptr;
  std::int64_t batch_stride = 0;
  std::int64_t token_stride = 0;
  std::int64_t head_stride = 0;

#ifdef __CUDACC__
  /// Token 0 of one head.
  __device__ Scalar* at(std::int64_t batch, std::int64_t head) const {
    return data + batch * batch_stride + head * head_stride;
  }
#endif
};

/// The row programs of all heads in device memory, as kernels take them. Which of them decay and write
/// strengths have follows from the arrays that are given.
template <class Scalar>
struct RowPrograms {
  std::int64_t batches = 1;  // B
  std::int64_t heads = 1;    // H
  std::int64_t T = 0;
  std::int64_t K = 0;
  std::int64_t V = 0;
  bool erase = false;                     // u = v - S~^T k instead of v
  DeviceRows<const Scalar> q = {};        // [B, T, H, K]
  DeviceRows<const Scalar> k = {};        // [B, T, H, K]
  DeviceRows<const Scalar> v = {};        // [B, T, H, V]
  DeviceRows<const Scalar> alpha = {};    // [B, T, H, 1]; no data: 1
  DeviceRows<const Scalar> beta = {};     // [B, T, H, 1]; no data: 1
  const Scalar* initial_state = nullptr;  // [B, H, K, V]; null: 0
  DeviceRows<Scalar> o = {};              // [B, T, H, V]
  Scalar* final_state = nullptr;          // [B, H, K, V]; may be initial_state
};

}  // namespace palimpsest
