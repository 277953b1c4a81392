#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/check.h"

namespace palimpsest::cuda {

/// Blocks of a grid along its second or third axis, at most.
inline constexpr std::int64_t most_grid_blocks = 65535;

/// How many tables of `bytes_each` bytes there are at a time: as many as fit into a gigabyte, but 1 at least
/// and `most` at most.
inline std::int64_t fitting(double bytes_each, std::int64_t most) {
  constexpr double room = 1 << 30;
  const auto count = static_cast<std::int64_t>(room / std::max(bytes_each, 1.0));
  return std::max<std::int64_t>(std::min(count, most), 1);
}

/// Calls visit(first, count) for one group of heads after the other. A head takes `bytes`, a group at most a
/// quarter of the device's memory, or it is one head.
template <class Visit>
void for_groups(std::size_t heads, double bytes, Visit visit) {
  std::size_t free = 0;
  std::size_t total = 0;
  CHECK_CUDA(cudaMemGetInfo(&free, &total));
  const double count = static_cast<double>(total) / 4 / bytes;
  const std::size_t at_once =
      count < static_cast<double>(heads) ? std::max<std::size_t>(static_cast<std::size_t>(count), 1) : heads;
  for (std::size_t first = 0; first < heads; first += at_once) visit(first, std::min(at_once, heads - first));
}

}  // namespace palimpsest::cuda
