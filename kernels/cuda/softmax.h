#pragma once

#include "kernels/cuda/head_matrices.h"

namespace palimpsest {

/// Some queries of all heads and some of the keys in their cache, in device memory: core/engines/softmax.h.
/// What the scores have added to them is a bias, or follows from the gates between key and query; or nothing.
template <class Scalar>
struct Attention {
  std::int64_t heads = 1;
  std::int64_t queries = 0;  // L, of a head
  std::int64_t keys = 0;     // M, of a head
  std::int64_t K = 0;
  std::int64_t V = 0;
  std::int64_t first_query = 0;             // number of query row 0
  std::int64_t first_key = 0;               // number of key row 0
  DeviceRows<const Scalar> q = {};          // [L, H, K], scaled
  DeviceRows<const Scalar> k = {};          // [M, H, K]
  DeviceRows<const Scalar> v = {};          // [M, H, V]
  const Scalar* bias = nullptr;             // [L, M], of a single head
  DeviceRows<const Scalar> log_gates = {};  // [p + T, H, 1], of all keys from number 0 on
};

}  // namespace palimpsest
