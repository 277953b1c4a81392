#include "core/base/free_memory.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace palimpsest {

namespace {

/// Larger blocks are the system's; so is what is free beyond `trim` bytes at the end of a heap.
void keep_free([[maybe_unused]] int block, [[maybe_unused]] int trim) {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, block);
  mallopt(M_TRIM_THRESHOLD, trim);
#endif
}

}  // namespace

void keep_little_free_memory() {
  constexpr int most = 4 << 20;  // a matrix of a short text is not larger
  keep_free(most, most);
}

void give_back_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

KeptMemory::KeptMemory() { keep_free(32 << 20, 1 << 30); }

KeptMemory::~KeptMemory() {
  keep_little_free_memory();
  give_back_free_memory();
}

}  // namespace palimpsest
