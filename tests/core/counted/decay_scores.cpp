#include "tests/core/counted/counted.h"

#include "core/engines/decay_scores.cpp"

namespace palimpsest {

using testing::Counted;

template class ChunkDecay<Counted>;

}  // namespace palimpsest
