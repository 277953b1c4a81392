#include "kernels/cuda/grid.cuh"
#include "kernels/cuda/hopper/tiles.h"

namespace palimpsest {

namespace {

constexpr int threads = 256;

/// A number of a copy [H, T, columns], by its own number in it.
struct Cell {
  std::int64_t head;
  std::int64_t token;
  std::int64_t column;

  __device__ Cell(std::int64_t number, const Extent& extent, std::int64_t columns)
      : head(number / columns / extent.T), token(number / columns % extent.T), column(number % columns) {}

  template <class Number>
  __device__ Number& of(const DeviceRows<Number>& rows) const {
    return rows.row(head, token)[column];
  }
};

__host__ __device__ std::int64_t cells(const Extent& extent, std::int64_t columns) {
  return extent.heads * extent.T * columns;
}

__global__ void pack_each(const DeviceRows<const float> rows, const Extent extent, std::int64_t columns,
                          __nv_bfloat16* to) {
  const std::int64_t i = thread_number();
  const Cell cell(i, extent, columns);
  if (i < cells(extent, columns))
    to[i] = __float2bfloat16_rn(cell.column < extent.columns ? cell.of(rows) : 0);
}

__global__ void unpack_each(const __nv_bfloat16* from, const Extent extent, std::int64_t columns,
                            const DeviceRows<float> rows) {
  const std::int64_t i = thread_number();
  const Cell cell(i, extent, columns);
  if (i < cells(extent, columns) && cell.column < extent.columns) cell.of(rows) = __bfloat162float(from[i]);
}

__global__ void pack_each_gate(const DeviceRows<const float> gates, bool are_logs, const Extent extent,
                               std::int64_t columns, float* to) {
  const std::int64_t i = thread_number();
  const Cell cell(i, extent, columns);
  if (i >= cells(extent, columns)) return;
  if (cell.column >= extent.columns)
    to[i] = 0;
  else
    to[i] = are_logs ? cell.of(gates) : logf(cell.of(gates));
}

}  // namespace

void pack(const DeviceRows<const float>& rows, const Extent& extent, __nv_bfloat16* to) {
  const std::int64_t columns = padded_columns(extent.columns);
  launch(pack_each, {blocks_for(cells(extent, columns), threads), threads}, rows, extent, columns, to);
}

void unpack(const __nv_bfloat16* from, const Extent& extent, const DeviceRows<float>& rows) {
  const std::int64_t columns = padded_columns(extent.columns);
  launch(unpack_each, {blocks_for(cells(extent, columns), threads), threads}, from, extent, columns, rows);
}

void pack_gates(const DeviceRows<const float>& gates, bool are_logs, const Extent& extent,
                std::int64_t columns_of_copy, float* to) {
  launch(pack_each_gate, {blocks_for(cells(extent, columns_of_copy), threads), threads}, gates, are_logs,
         extent, columns_of_copy, to);
}

}  // namespace palimpsest
