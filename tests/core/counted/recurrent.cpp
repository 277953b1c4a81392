#include "tests/core/counted/counted.h"

#include "core/engines/recurrent.cpp"

namespace palimpsest {

using testing::Counted;

template Matrix<Counted> recurrent(const Program<Counted>&, Matrix<Counted>&, Recorder*);

}  // namespace palimpsest
