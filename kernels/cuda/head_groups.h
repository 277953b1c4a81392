#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/cuda/check.h"

namespace palimpsest::cuda {

/// Calls visit(first, count) for one group of heads after the other. A head takes `bytes`, a group at most a
/// quarter of the device's memory, or it is one head.
template <class Visit>
void for_groups(std::size_t heads, double bytes, Visit visit) {
  std::size_t free = 0;
  std::size_t total = 0;
  CHECK_CUDA(cudaMemGetInfo(&free, &total));
  const double fitting = static_cast<double>(total) / 4 / bytes;
  const std::size_t at_once = fitting < static_cast<double>(heads)
                                  ? std::max<std::size_t>(static_cast<std::size_t>(fitting), 1)
                                  : heads;
  for (std::size_t first = 0; first < heads; first += at_once) visit(first, std::min(at_once, heads - first));
}

}  // namespace palimpsest::cuda
