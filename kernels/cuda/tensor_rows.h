#pragma once

#include <cuda_fp16.h>

#include "core/operator/program.h"
#include "kernels/cuda/hopper/tiles.h"
#include "kernels/cuda/matrices.h"
#include "kernels/cuda/tensor_float/chunks.h"

// What the kernels on tensor cores take and give, on the side of the host.

namespace palimpsest::cuda {

/// Whether the first device has the tensor cores that kernels/cuda/hopper is written for.
bool has_hopper();

/// Whether the first device has tensor cores that multiply tf32.
bool has_tensor_float();

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

  CUtensorMap map() const;

 private:
  Extent extent_;
  std::int64_t columns_ = 0;
  DeviceArray<__nv_bfloat16> numbers_;
};

/// Row programs of all heads in chunks of 64 tokens on tensor cores, in bf16 with sums and states in f32:
/// those that fit_tensor_cores().
class TensorRows {
 public:
  /// Takes two-byte copies of q, k and v, which are rounded to bf16 already. `programs` must outlive this.
  explicit TensorRows(const RowPrograms<float>& programs);

  /// Computes outputs and final states; the latter go where `programs` wants them.
  void compute() const;

  /// Writes the outputs to where `programs` wants them.
  void unpack() const { o_.unpack(programs_.o); }

 private:
  using ChunkMatrices = DeviceArray<__half>;  // [B, H, chunks, 64, 64]

  Extent extent(std::int64_t columns) const;
  ChunkMatrices room_for_chunks() const;
  CUtensorMap map(const ChunkMatrices& matrices) const;
  void give_gates();

  const RowPrograms<float>& programs_;
  std::int64_t chunks_;
  TileRows q_, k_, v_, o_, q_read_, k_read_, k_write_;
  DeviceArray<float> g_, totals_;
  ChunkMatrices scores_, factors_;
  ChunkFactors chunk_factors_;
  ChunkDecays chunk_decays_;
  ChunkChain chain_;
};

/// Causal softmax attention of all heads on tensor cores, in bf16 with sums in f32: that which
/// fits_tensor_cores().
class TensorSoftmax {
 public:
  /// Takes two-byte copies of q, k and v, which are rounded to bf16 already. The last query's own key is the
  /// last one.
  explicit TensorSoftmax(const Attention<float>& attention)
      : q_(attention.q, {1, attention.heads, attention.queries, attention.K}),
        k_(attention.k, {1, attention.heads, attention.keys, attention.K}),
        v_(attention.v, {1, attention.heads, attention.keys, attention.V}),
        o_(Extent{1, attention.heads, attention.queries, attention.V}),
        tiles_{.heads = attention.heads,
               .T = attention.queries,
               .keys = attention.keys,
               .q = q_.map(),
               .k = k_.map(),
               .v = v_.map(),
               .o = o_.map()} {}

  void compute() const { softmax_on_tensor_cores(tiles_); }

  /// Writes the outputs, [T, H, V].
  void unpack(const DeviceRows<float>& o) const { o_.unpack(o); }

 private:
  TileRows q_, k_, v_, o_;
  SoftmaxTiles tiles_;
};

/// Row programs of all heads in chunks of 32 tokens in tf32: those that fit_tensor_cores()
/// (core/engines/device_engines.h), on any device that has_tensor_float().
class TensorFloatRows {
 public:
  /// `programs` must outlive this. Throws Error where the device has no room for the tables.
  explicit TensorFloatRows(const RowPrograms<float>& programs);

  /// Computes outputs and final states; they go where `programs` wants them.
  void compute() const;

 private:
  /// Room for so many numbers of every chunk.
  DeviceArray<float> room(std::int64_t numbers) const;

  const RowPrograms<float>& programs_;
  DeviceArray<float> q_read_, k_read_, k_write_, scores_, factors_, totals_;
  tensor_float::ChunkTables tables_;
};

}  // namespace palimpsest::cuda
