#include "tests/core/counted/counted.h"

#include "core/engines/chunkwise.cpp"

namespace palimpsest {

using testing::Counted;

template Matrix<Counted> chunk(const Program<Counted>&, Matrix<Counted>&, Recorder*);
template Matrix<Counted> chunk_state(const Program<Counted>&, Matrix<Counted>&, Recorder*);
template Matrix<Counted> chunk_outputs(const Program<Counted>&, const Matrix<Counted>&,
                                       const Matrix<Counted>&, Recorder*);

}  // namespace palimpsest
