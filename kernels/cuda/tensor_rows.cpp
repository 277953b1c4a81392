#include <fmt/format.h>

#include <algorithm>

#include "core/engines/device_engines.h"
#include "kernels/cuda/hopper/tiles.h"
#include "kernels/cuda/matrices.h"
#include "kernels/cuda/tensor_float/chunks.h"

namespace palimpsest::cuda {

namespace {

constexpr std::int64_t chunk = 64;
constexpr std::int64_t most_keys = 128;
static_assert(most_tensor_core_channels == tensor_float::most_channels);

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

/// The map for bulk copies of 64 x 64 tiles of an array [H, T, columns] of two-byte numbers: axes (column,
/// token, head). Rows begin at multiples of 16 bytes. Throws Error where the driver cannot make it.
CUtensorMap tensor_map(const void* data, const Extent& of) {
  static const auto encode = encoder();
  const auto size = [](std::int64_t count) {
    return static_cast<cuuint64_t>(std::max<std::int64_t>(count, 1));
  };
  // An axis of one has no stride; the driver wants some multiple of 16 bytes all the same.
  const auto bytes = [](std::int64_t count, std::int64_t stride) {
    return static_cast<cuuint64_t>(count > 1 ? 2 * stride : 16);
  };
  const cuuint64_t sizes[3] = {size(of.columns), size(of.T), size(of.heads)};
  const cuuint64_t strides[2] = {bytes(of.T, of.columns), bytes(of.heads, of.T * of.columns)};
  const cuuint32_t tile[3] = {64, 64, 1};
  const cuuint32_t steps[3] = {1, 1, 1};
  CUtensorMap map = {};
  const CUresult result =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, const_cast<void*>(data), sizes, strides, tile, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw Error(fmt::format("cuTensorMapEncodeTiled refused [T {}, H {}, {} channels]: error {}", of.T,
                            of.heads, of.columns, static_cast<int>(result)));
  return map;
}

/// An array [H, T, columns] as kernels take rows.
template <class Number>
DeviceRows<const Number> rows_of(const Number* data, const Extent& of) {
  return {data, of.columns, of.T * of.columns};
}

/// Rows of all heads in bf16, as bulk copies take tiles of them.
class TileRows {
 public:
  TileRows() = default;

  /// Room for rows.
  explicit TileRows(const Extent& extent) : extent_(extent), padded_(extent) {
    padded_.columns = padded_columns(extent.columns);
    numbers_ = DeviceArray<__nv_bfloat16>(padded_.size());
  }

  /// Copies of rows that are rounded to bf16 already.
  TileRows(const DeviceRows<const float>& rows, const Extent& extent) : TileRows(extent) {
    RunClock::moving(&RunTimes::transfers, [&] { pack(rows, extent_, numbers_.data()); });
  }

  /// Copies them back.
  void unpack(const DeviceRows<float>& to) const {
    RunClock::moving(&RunTimes::transfers, [&] { palimpsest::unpack(numbers_.data(), extent_, to); });
  }

  DeviceRows<const __nv_bfloat16> rows() const { return rows_of(numbers_.data(), padded_); }
  CUtensorMap map() const { return tensor_map(numbers_.data(), padded_); }

 private:
  Extent extent_;
  Extent padded_;
  DeviceArray<__nv_bfloat16> numbers_;
};

/// In chunks of 64 tokens, in bf16: two-byte copies of q, k and v, and the tables that are made of them
/// before the chain. With a decay per key channel, these include the decays.
void run_in_bf16(const RowPrograms<float>& programs, const Computes& compute) {
  const std::int64_t count = (programs.T + chunk - 1) / chunk;
  const auto extent = [&](std::int64_t columns) -> Extent { return {programs.heads, programs.T, columns}; };
  const TileRows q(programs.q, extent(programs.K)), k(programs.k, extent(programs.K));
  const TileRows v(programs.v, extent(programs.V)), o(extent(programs.V));
  TokenChunks chunks = {.heads = programs.heads,
                        .T = programs.T,
                        .chunks = count,
                        .K = programs.K,
                        .V = programs.V,
                        .erases = programs.erase,
                        .reads_first = programs.reads_first,
                        .decays_by_channel = programs.decays_by_channel && programs.alpha.data,
                        .q = q.map(),
                        .k = k.map(),
                        .v = v.map(),
                        .o = o.map(),
                        .q_rows = q.rows(),
                        .k_rows = k.rows(),
                        .beta = programs.beta,
                        .state = programs.state};
  TileRows q_read, k_read, k_write;
  DeviceArray<float> g, totals, segment_states, transitions;
  DeviceArray<hopper::Tile> scores, strengths;
  DeviceArray<hopper::Diagonal> diagonals;
  const auto make_rows = [&](TileRows& rows) {
    rows = TileRows(extent(most_keys));
    return rows.map();
  };
  const auto make = [&](auto& numbers, int of_a_chunk) {
    numbers = std::remove_reference_t<decltype(numbers)>(Extent{programs.heads, count, of_a_chunk}.size());
    return numbers.data();
  };
  if (programs.alpha.data) {
    const Extent all = extent(chunks.decays_by_channel ? most_keys : 1);
    g = DeviceArray<float>(all.size());
    RunClock::moving(&RunTimes::transfers, [&] {
      pack_gates(programs.alpha, programs.gates_are_logs, extent(chunks.decays_by_channel ? programs.K : 1),
                 all.columns, g.data());
    });
    chunks.g = rows_of<float>(g.data(), all);
  }
  constexpr std::int64_t most_values_without_tables = 384;  // three blocks: for a fourth, tables are faster
  chunks.has_tables = chunks.decays_by_channel && (chunks.erases || programs.V > most_values_without_tables);
  if (chunks.has_tables) {
    chunks.q_read = make_rows(q_read);
    chunks.k_write = make_rows(k_write);
    if (chunks.erases) {
      chunks.k_read = make_rows(k_read);
      chunks.strengths = make(strengths, 1);
      chunks.diagonals = make(diagonals, chunk / hopper::unit_lower_block);
    }
    chunks.scores = make(scores, 1);
    chunks.totals = make(totals, most_keys);
  }
  cut_into_segments(chunks);
  if (chunks.segments > 1) {
    const std::int64_t segments = programs.heads * chunks.segments;
    segment_states = DeviceArray<float>(Extent{segments, programs.K, programs.V}.size());
    transitions = DeviceArray<float>(Extent{segments, chunks.erases ? most_keys : 1, most_keys}.size());
    chunks.segment_states = segment_states.data();
    chunks.transitions = transitions.data();
  }
  compute([&] {
    if (chunks.has_tables) multiply_decays_in(chunks);
    chain_on_tensor_cores(chunks);
  });
  o.unpack(programs.o);
}

/// In chunks of 32 tokens, in tf32.
void run_in_tf32(const RowPrograms<float>& programs, const Computes& compute) {
  using namespace tensor_float;
  const std::int64_t channels = padded(programs.K);
  const std::int64_t chunks = chunks_of(programs.T);
  std::vector<DeviceArray<float>> rooms;
  const auto room_if = [&](bool wanted, std::int64_t of_a_chunk) {
    return rooms.emplace_back(wanted ? Extent{programs.heads, chunks, of_a_chunk}.size() : 0).data();
  };
  const ChunkTables tables = {.chunks = chunks,
                              .q_read = room_if(true, chunk_tokens * channels),
                              .k_read = room_if(programs.erase, chunk_tokens * channels),
                              .k_write = room_if(true, chunk_tokens * channels),
                              .scores = room_if(true, chunk_tokens * chunk_tokens),
                              .factors = room_if(programs.erase, chunk_tokens * chunk_tokens),
                              .totals = room_if(true, channels)};
  compute([&] {
    make_tables(programs, tables);
    chain(programs, tables);
  });
}

}  // namespace

bool has_tensor_cores(Rounding rounding) {
  return rounding == Rounding::bf16 ? capability() == 9 : rounding == Rounding::tf32 && capability() >= 8;
}

void run_on_tensor_cores(const RowPrograms<float>& programs, Rounding rounding, const Computes& compute) {
  rounding == Rounding::tf32 ? run_in_tf32(programs, compute) : run_in_bf16(programs, compute);
}

void run_on_tensor_cores(const Attention<float>& attention, const DeviceRows<float>& o, Rounding rounding,
                         const Computes& compute) {
  if (rounding == Rounding::tf32) return compute([&] { tensor_float::softmax(attention, o); });
  const Extent queries = {attention.heads, attention.queries, attention.K};
  const Extent keys = {attention.heads, attention.keys, attention.K};
  const TileRows q(attention.q, queries), k(attention.k, keys);
  const TileRows v(attention.v, {attention.heads, attention.keys, attention.V});
  const TileRows outputs(Extent{attention.heads, attention.queries, attention.V});
  const SoftmaxTiles tiles = {.heads = attention.heads,
                              .T = attention.queries,
                              .keys = attention.keys,
                              .q = q.map(),
                              .k = k.map(),
                              .v = v.map(),
                              .o = outputs.map()};
  compute([&] { softmax_on_tensor_cores(tiles); });
  outputs.unpack(o);
}

}  // namespace palimpsest::cuda
