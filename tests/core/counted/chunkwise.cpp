#include "tests/core/counted/counted.h"

#include "core/engines/chunkwise.cpp"

namespace palimpsest {

using testing::Counted;

template Matrix<Counted> chunk(const Program<Counted>&, Matrix<Counted>&, Recorder*);

}  // namespace palimpsest
