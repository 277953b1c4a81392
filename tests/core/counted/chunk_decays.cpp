#include "tests/core/counted/counted.h"

#include "core/engines/chunk_decays.cpp"

namespace palimpsest {

using testing::Counted;

template class ChunkDecay<Counted>;
template class ChunkParts<Counted>;
template class ChunkValueDecay<Counted>;

}  // namespace palimpsest
