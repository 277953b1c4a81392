#include "tests/core/counted/counted.h"

#include "core/engines/value_decay.cpp"

namespace palimpsest {

using testing::Counted;

template class ChunkValueDecay<Counted>;

}  // namespace palimpsest
