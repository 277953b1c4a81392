#include "tests/core/counted/counted.h"

#include "core/engines/parallel.cpp"

namespace palimpsest {

using testing::Counted;

template Matrix<Counted> parallel(const Program<Counted>&, Matrix<Counted>&, Recorder*,
                                  const std::stop_token&);

}  // namespace palimpsest
