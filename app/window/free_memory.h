#pragma once

namespace palimpsest {

/// Lets the allocator keep no more than 4 MB free at the end of each thread's heap, from now on. By itself
/// glibc keeps twice the largest block that was freed by then, up to 64 MB a thread, where
/// give_back_free_memory() cannot reach it. Does nothing where the C library has no way to.
void keep_little_free_memory();

/// Gives the system back what the allocator keeps for later: tens of MB after a minute of dragging. Takes
/// about a millisecond; does nothing where the C library has no way to.
void give_back_free_memory();

}  // namespace palimpsest
