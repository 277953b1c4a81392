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

  /// The same from row `row` of head `head` on; absent where this is.
  DeviceRows from(std::int64_t head, std::int64_t row) const {
    DeviceRows later = *this;
    if (data) later.data += head * head_stride + row * token_stride;
    return later;
  }

#ifdef __CUDACC__
  /// Token 0 of one head.
  __device__ Scalar* at(std::int64_t batch, std::int64_t head) const {
    return data + batch * batch_stride + head * head_stride;
  }
#endif
};

/// When the erases or the reads of a program read the state (core/operator/program.h: Reader), the same for
/// all heads. Times never decrease.
struct ReaderTimes {
  const std::int64_t* decays = nullptr;  // of the rows from the first on
  const std::int64_t* writes = nullptr;
};

/// The row programs of all heads in device memory, as kernels take them: the arrays of core/operator/
/// program.h. One without data is absent: no decay, strength 1, state 0.
template <class Scalar>
struct RowPrograms {
  std::int64_t batches = 1;  // B
  std::int64_t heads = 1;    // H
  std::int64_t T = 0;        // rows of the state; N of a program
  std::int64_t K = 0;
  std::int64_t V = 0;
  bool erase = false;                     // u = v - S~^T a instead of v
  DeviceRows<const Scalar> q = {};        // [B, R, H, K]
  DeviceRows<const Scalar> k = {};        // [B, T, H, K]
  DeviceRows<const Scalar> v = {};        // [B, T, H, V]
  DeviceRows<const Scalar> alpha = {};    // [B, T, H, 1 or K]; or its logarithm g
  DeviceRows<const Scalar> beta = {};     // [B, T, H, 1]
  const Scalar* initial_state = nullptr;  // [B, H, p K, V]
  DeviceRows<Scalar> o = {};              // [B, R, H, V]
  Scalar* final_state = nullptr;          // [B, H, p K, V]; may be initial_state

  // What the plain kernels know (recurrent_rows.cu, chunk_rows.cu); of it those on tensor cores (hopper/,
  // tensor_float/) read reads_first, decays_by_channel and gates_are_logs too.
  std::int64_t R = 0;                         // reads; 0 where the program reads the final state
  std::int64_t rows_per_read = 1;             // rows of the state of one token
  bool reads_first = false;                   // o_t = S_{t-1}^T q_t, before the first row of its token
  std::int64_t parts = 1;                     // p
  bool has_parts = false;                     // the state is several side by side (momentum), even if one
  bool decays_by_channel = false;             // alpha is [B, T, H, K]
  bool gates_are_logs = false;                // alpha holds g = log alpha
  bool erases_undecayed = false;              // u = v - S_{r-1}^T a
  bool writes_value = true;                   // false: u = -S~^T a
  DeviceRows<const Scalar> a = {};            // [B, T, H, K]; k where the erase has no key of its own
  DeviceRows<const Scalar> mu = {};           // [B, T, H, V]
  DeviceRows<const Scalar> k_plain = {};      // [B, T, H, K]
  DeviceRows<const Scalar> v_plain = {};      // [B, T, H, V]
  DeviceRows<const Scalar> transition = {};   // [B, T, H, p p]
  DeviceRows<const Scalar> inject = {};       // [B, T, H, p]
  DeviceRows<const Scalar> erase_sight = {};  // [B, T, H, p]
  DeviceRows<const Scalar> read_sight = {};   // [B, R, H, p]
  ReaderTimes erases = {};                    // [T]
  ReaderTimes reads = {};                     // [R]
};

}  // namespace palimpsest
