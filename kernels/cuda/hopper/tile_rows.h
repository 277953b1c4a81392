#pragma once

#include "kernels/cuda/hopper/pack.h"
#include "kernels/cuda/matrices.h"

namespace palimpsest::cuda {

/// Rows of all heads in bf16, as bulk copies take tiles of them.
class TileRows {
 public:
  TileRows() = default;

  /// Room for rows.
  explicit TileRows(const Extent& extent)
      : extent_(extent),
        columns_(padded_columns(extent.columns)),
        numbers_(static_cast<std::size_t>(extent.batches * extent.heads * extent.T * columns_)) {}

  /// Copies of rows that are rounded to bf16 already.
  TileRows(const DeviceRows<const float>& rows, const Extent& extent) : TileRows(extent) {
    RunClock::moving(&RunTimes::transfers, [&] { pack(rows, extent_, numbers_.data()); });
  }

  /// Copies them back.
  void unpack(const DeviceRows<float>& to) const {
    RunClock::moving(&RunTimes::transfers, [&] { palimpsest::unpack(numbers_.data(), extent_, to); });
  }

  DeviceRows<const __nv_bfloat16> rows() const {
    return {.data = numbers_.data(),
            .batch_stride = extent_.heads * extent_.T * columns_,
            .token_stride = columns_,
            .head_stride = extent_.T * columns_};
  }

  CUtensorMap map() const { return tensor_map(rows(), columns_, extent_.T, extent_.heads, extent_.batches); }

 private:
  Extent extent_;
  std::int64_t columns_ = 0;
  DeviceArray<__nv_bfloat16> numbers_;
};

}  // namespace palimpsest::cuda
