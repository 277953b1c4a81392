#pragma once

#include <cuda_fp16.h>

#include "core/operator/program.h"
#include "kernels/cuda/hopper/chunk_chain.h"
#include "kernels/cuda/hopper/chunk_decays.h"
#include "kernels/cuda/hopper/chunk_factors.h"
#include "kernels/cuda/hopper/tile_rows.h"
#include "kernels/cuda/row_programs.h"

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

}  // namespace palimpsest::cuda
