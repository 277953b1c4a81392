#include "kernels/cuda/hopper/tensor_rows.h"

namespace palimpsest::cuda {

namespace {

constexpr std::int64_t chunk = 64;
constexpr std::int64_t most_keys = 128;

std::size_t numbers(std::int64_t count) { return static_cast<std::size_t>(count); }

}  // namespace

bool has_hopper() {
  static const int major = [] {  // asked in every frame, also after the device was lost
    int number = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&number, cudaDevAttrComputeCapabilityMajor, 0));
    return number;
  }();
  return major == 9;
}

TensorRows::TensorRows(const RowPrograms<float>& programs)
    : programs_(programs), chunks_((programs.T + chunk - 1) / chunk) {
  q_ = TileRows(programs.q, extent(programs.K));
  k_ = TileRows(programs.k, extent(programs.K));
  v_ = TileRows(programs.v, extent(programs.V));
  o_ = TileRows(extent(programs.V));
  if (programs.erase) factors_ = room_for_chunks();
  chain_ = {.batches = programs.batches,
            .heads = programs.heads,
            .T = programs.T,
            .K = programs.K,
            .V = programs.V,
            .erases = programs.erase,
            .reads_first = programs.reads_first,
            .q = q_.map(),
            .k = k_.map(),
            .v = v_.map(),
            .o = o_.map(),
            .beta = programs.beta,
            .initial_state = programs.initial_state,
            .final_state = programs.final_state,
            .factors = map(factors_)};
  if (programs.alpha.data) give_gates();
  chunk_factors_ = {.batches = programs.batches,
                    .heads = programs.heads,
                    .T = programs.T,
                    .k = k_.map(),
                    .g = chain_.g,
                    .beta = programs.beta,
                    .factors = factors_.data()};
}

Extent TensorRows::extent(std::int64_t columns) const {
  return {programs_.batches, programs_.heads, programs_.T, columns};
}

TensorRows::ChunkMatrices TensorRows::room_for_chunks() const {
  return ChunkMatrices(numbers(programs_.batches * programs_.heads * chunks_ * chunk * chunk));
}

CUtensorMap TensorRows::map(const ChunkMatrices& matrices) const {
  if (matrices.size() == 0) return {};
  const std::int64_t head = chunks_ * chunk * chunk;
  return tensor_map(matrices.data(), chunk, chunks_ * chunk, programs_.heads, programs_.batches, chunk, head,
                    programs_.heads * head);
}

void TensorRows::give_gates() {
  const std::int64_t columns = programs_.decays_by_channel ? most_keys : 1;
  g_ = DeviceArray<float>(numbers(programs_.batches * programs_.heads * programs_.T * columns));
  RunClock::moving(&RunTimes::transfers, [&] {
    pack_gates(programs_.alpha, programs_.gates_are_logs,
               extent(programs_.decays_by_channel ? programs_.K : 1), columns, g_.data());
  });
  const DeviceRows<const float> g = {.data = g_.data(),
                                     .batch_stride = programs_.heads * programs_.T * columns,
                                     .token_stride = columns,
                                     .head_stride = programs_.T * columns};
  if (!programs_.decays_by_channel) {
    chain_.g = g;
    return;
  }
  q_read_ = TileRows(extent(most_keys));
  k_write_ = TileRows(extent(most_keys));
  if (programs_.erase) k_read_ = TileRows(extent(most_keys));
  scores_ = room_for_chunks();
  totals_ = DeviceArray<float>(numbers(programs_.batches * programs_.heads * chunks_ * most_keys));
  chunk_decays_ = {.batches = programs_.batches,
                   .heads = programs_.heads,
                   .T = programs_.T,
                   .K = programs_.K,
                   .erases = programs_.erase,
                   .reads_first = programs_.reads_first,
                   .q = q_.map(),
                   .k = k_.map(),
                   .q_rows = q_.rows(),
                   .k_rows = k_.rows(),
                   .g = g,
                   .beta = programs_.beta,
                   .q_read = q_read_.map(),
                   .k_read = programs_.erase ? k_read_.map() : CUtensorMap{},
                   .k_write = k_write_.map(),
                   .scores = map(scores_),
                   .factors = factors_.data(),
                   .totals = totals_.data()};
  chain_.decays_by_channel = true;
  chain_.q = chunk_decays_.q_read;
  chain_.k = chunk_decays_.k_write;
  chain_.k_read = chunk_decays_.k_read;
  chain_.scores = chunk_decays_.scores;
  chain_.totals = totals_.data();
}

void TensorRows::compute() const {
  if (chain_.decays_by_channel)
    multiply_decays_in(chunk_decays_);
  else if (chain_.erases)
    make_chunk_factors(chunk_factors_);
  chain_on_tensor_cores(chain_);
}

}  // namespace palimpsest::cuda
