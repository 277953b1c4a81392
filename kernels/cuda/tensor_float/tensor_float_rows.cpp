#include "kernels/cuda/tensor_float/tensor_float_rows.h"

namespace palimpsest::cuda {

bool has_tensor_float() {
  static const int major = [] {  // asked in every frame, also after the device was lost
    int number = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&number, cudaDevAttrComputeCapabilityMajor, 0));
    return number;
  }();
  return major >= 8;
}

TensorFloatRows::TensorFloatRows(const RowPrograms<float>& programs) : programs_(programs) {
  using namespace tensor_float;
  const std::int64_t channels = padded(programs.K);
  q_read_ = room(chunk_tokens * channels);
  k_write_ = room(chunk_tokens * channels);
  scores_ = room(chunk_tokens * chunk_tokens);
  totals_ = room(channels);
  if (programs.erase) {
    k_read_ = room(chunk_tokens * channels);
    factors_ = room(chunk_tokens * chunk_tokens);
  }
  tables_ = {.chunks = chunks_of(programs.T),
             .q_read = q_read_.data(),
             .k_read = k_read_.data(),
             .k_write = k_write_.data(),
             .scores = scores_.data(),
             .factors = factors_.data(),
             .totals = totals_.data()};
}

DeviceArray<float> TensorFloatRows::room(std::int64_t numbers) const {
  const std::int64_t chunks = programs_.batches * programs_.heads * tensor_float::chunks_of(programs_.T);
  return DeviceArray<float>(static_cast<std::size_t>(chunks * numbers));
}

void TensorFloatRows::compute() const {
  tensor_float::make_tables(programs_, tables_);
  tensor_float::chain(programs_, tables_);
}

}  // namespace palimpsest::cuda
