#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cstdint>

#include "kernels/cuda/row_programs.h"

namespace palimpsest {

/// Rows of all heads, [B, T, H, columns].
struct Extent {
  std::int64_t batches = 1;
  std::int64_t heads = 1;
  std::int64_t T = 0;
  std::int64_t columns = 0;
};

/// Columns of a copy whose rows begin at multiples of 16 bytes.
constexpr std::int64_t padded_columns(std::int64_t columns) { return (columns + 7) / 8 * 8; }

/// Copies rows of numbers that bf16 has, to [B, H, T, padded_columns()]; what is added is 0.
void pack(const DeviceRows<const float>& rows, const Extent& extent, __nv_bfloat16* to);

/// And back.
void unpack(const __nv_bfloat16* from, const Extent& extent, const DeviceRows<float>& rows);

/// g = log alpha, or g as given where `are_logs`, to [B, H, T, columns_of_copy]; what is added is 0.
void pack_gates(const DeviceRows<const float>& gates, bool are_logs, const Extent& extent,
                std::int64_t columns_of_copy, float* to);

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
