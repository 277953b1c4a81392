#pragma once

#include <hwy/aligned_allocator.h>

#include <algorithm>

#include "core/base/matrix.h"

namespace palimpsest::cpu {

/// Numbers at an address that the widest vectors are aligned to.
using Memory = hwy::AlignedFreeUniquePtr<float[]>;

/// Room for `count` numbers, which are 0.
inline Memory zeros(Index count) {
  Memory memory = hwy::AllocateAligned<float>(static_cast<std::size_t>(std::max<Index>(count, 1)));
  std::fill_n(memory.get(), count, 0.0F);
  return memory;
}

}  // namespace palimpsest::cpu
