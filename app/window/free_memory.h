#pragma once

namespace palimpsest {

/// Gives the system back what the allocator keeps for later: tens of MB after a minute of dragging. Takes
/// about a millisecond; does nothing where the C library has no way to.
void give_back_free_memory();

}  // namespace palimpsest
