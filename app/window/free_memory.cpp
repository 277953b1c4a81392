#include "app/window/free_memory.h"

#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace palimpsest {

void keep_little_free_memory() {
#ifdef __GLIBC__
  // Larger blocks are the system's; a matrix of a short text is not.
  constexpr int most = 4 << 20;
  mallopt(M_TRIM_THRESHOLD, most);
  mallopt(M_MMAP_THRESHOLD, most);
#endif
}

void give_back_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace palimpsest
