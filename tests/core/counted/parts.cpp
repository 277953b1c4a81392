#include "tests/core/counted/counted.h"

#include "core/engines/parts.cpp"

namespace palimpsest {

using testing::Counted;

template class ChunkParts<Counted>;

}  // namespace palimpsest
