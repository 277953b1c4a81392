#pragma once

#include "kernels/cuda/matrices.h"
#include "kernels/cuda/tensor_float/chunks.h"

namespace palimpsest::cuda {

/// Whether the first device has tensor cores that multiply tf32.
bool has_tensor_float();

/// Row programs of all heads in chunks of 32 tokens in tf32: those that fit_tensor_cores()
/// (core/engines/fast_kernels.h), on any device that has_tensor_float().
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
