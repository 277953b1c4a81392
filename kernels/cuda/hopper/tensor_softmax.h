#pragma once

#include "kernels/cuda/hopper/softmax_tiles.h"
#include "kernels/cuda/hopper/tile_rows.h"
#include "kernels/cuda/softmax.h"

namespace palimpsest::cuda {

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
