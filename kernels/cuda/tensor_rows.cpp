#include "kernels/cuda/tensor_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"

namespace palimpsest::cuda {

namespace {

constexpr std::int64_t chunk = 64;
constexpr std::int64_t most_keys = 128;

std::size_t numbers(std::int64_t count) { return static_cast<std::size_t>(count); }

/// The major number of the first device's compute capability.
int capability() {
  static const int major = [] {  // asked in every frame, also after the device was lost
    int number = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&number, cudaDevAttrComputeCapabilityMajor, 0));
    return number;
  }();
  return major;
}

/// cuTensorMapEncodeTiled of the driver, which is asked for it, so that the program starts without one.
decltype(&cuTensorMapEncodeTiled) encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = {};
#if CUDART_VERSION >= 12050
  CHECK_CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault,
                                              &found));
#else
  CHECK_CUDA(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found));
#endif
  if (found != cudaDriverEntryPointSuccess || !function)
    throw Error("the driver has no cuTensorMapEncodeTiled; expected one for CUDA 12 or newer");
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
}

/// How bulk copies of 64 x 64 tiles find their way in an array [B, H, T, channels] of two-byte numbers: along
/// (channel, token, head, batch). Rows begin at multiples of 16 bytes. Throws Error where the driver cannot
/// say it.
CUtensorMap tensor_map(const void* data, std::int64_t channels, std::int64_t T, std::int64_t heads,
                       std::int64_t batches) {
  static const auto encode = encoder();
  const auto size = [](std::int64_t count) {
    return static_cast<cuuint64_t>(std::max<std::int64_t>(count, 1));
  };
  // An axis of one has no stride; the driver wants some multiple of 16 bytes all the same.
  const auto bytes = [](std::int64_t count, std::int64_t stride) {
    return static_cast<cuuint64_t>(count > 1 ? 2 * stride : 16);
  };
  const cuuint64_t sizes[4] = {size(channels), size(T), size(heads), size(batches)};
  const cuuint64_t strides[3] = {bytes(T, channels), bytes(heads, T * channels),
                                 bytes(batches, heads * T * channels)};
  const cuuint32_t tile[4] = {64, 64, 1, 1};
  const cuuint32_t steps[4] = {1, 1, 1, 1};
  CUtensorMap map = {};
  const CUresult result =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, const_cast<void*>(data), sizes, strides, tile, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw Error(fmt::format("cuTensorMapEncodeTiled refused [B {}, T {}, H {}, {} channels]: error {}",
                            batches, T, heads, channels, static_cast<int>(result)));
  return map;
}

}  // namespace

bool has_hopper() { return capability() == 9; }
bool has_tensor_float() { return capability() >= 8; }

CUtensorMap TileRows::map() const {
  return tensor_map(numbers_.data(), columns_, extent_.T, extent_.heads, extent_.batches);
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
  return tensor_map(matrices.data(), chunk, chunks_ * chunk, programs_.heads, programs_.batches);
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
