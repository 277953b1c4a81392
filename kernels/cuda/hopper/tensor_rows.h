#pragma once

#include <cuda_fp16.h>

#include "core/operator/program.h"
#include "kernels/cuda/hopper/tile_rows.h"
#include "kernels/cuda/hopper/tiles.h"
#include "kernels/cuda/row_programs.h"
#include "kernels/cuda/softmax.h"

namespace palimpsest::cuda {

/// Whether the first device has the tensor cores that kernels/cuda/hopper is written for.
bool has_hopper();

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

}  // namespace palimpsest::cuda
