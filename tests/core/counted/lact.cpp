#include "tests/core/counted/counted.h"

#include "core/engines/lact.cpp"

namespace palimpsest {

using testing::Counted;

template void lact_gather(const Matrix<Counted>&, const Matrix<Counted>&, const Vector<Counted>&,
                          Matrix<Counted>&);
template void lact_update(const LactUpdate<Counted>&, const Matrix<Counted>&, Counted, Matrix<Counted>&,
                          Matrix<Counted>&, Recorder*);

}  // namespace palimpsest
