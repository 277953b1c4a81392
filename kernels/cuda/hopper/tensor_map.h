#pragma once

#include <cuda.h>

#include <cstdint>

#include "kernels/cuda/row_programs.h"

namespace palimpsest {

/// How bulk copies of 64 x 64 tiles find their way in an array [B, T, H, channels] of two-byte numbers: along
/// (channel, token, head, batch). Rows begin at multiples of 16 bytes. Throws Error where the driver cannot
/// say it.
CUtensorMap tensor_map(const void* data, std::int64_t channels, std::int64_t T, std::int64_t heads,
                       std::int64_t batches, std::int64_t token_stride, std::int64_t head_stride,
                       std::int64_t batch_stride);

template <class Number>
CUtensorMap tensor_map(const DeviceRows<Number>& rows, std::int64_t channels, std::int64_t T,
                       std::int64_t heads, std::int64_t batches) {
  static_assert(sizeof(Number) == 2);
  return tensor_map(rows.data, channels, T, heads, batches, rows.token_stride, rows.head_stride,
                    rows.batch_stride);
}

}  // namespace palimpsest
