#pragma once

// How much of what is freed the allocator keeps for later. Nothing here does anything where the C library has
// no way to.

namespace palimpsest {

/// Lets the allocator keep no more than 4 MB free at the end of each thread's heap, from now on. By itself
/// glibc keeps twice the largest block that was freed by then, up to 64 MB a thread, where
/// give_back_free_memory() cannot reach it.
void keep_little_free_memory();

/// Gives the system back what the allocator keeps for later: tens of MB after a minute of dragging. Takes
/// about a millisecond.
void give_back_free_memory();

/// While one exists, whatever is freed is kept, but for blocks above 32 MB: what is measured again and again
/// does not wait until the system has cleared the same pages once more. Little is kept afterwards.
class KeptMemory {
 public:
  KeptMemory();
  ~KeptMemory();
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;
};

}  // namespace palimpsest
