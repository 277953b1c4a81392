// The engines of row programs on numbers that count.

#include "tests/counted/counted.h"

#include "core/engines/chunkwise.cpp"
#include "core/engines/parallel.cpp"
#include "core/engines/recurrent.cpp"

namespace palimpsest {

using testing::Counted;

template Matrix<Counted> recurrent(const Program<Counted>&, Matrix<Counted>&, Recorder*);
template Matrix<Counted> chunk(const Program<Counted>&, Matrix<Counted>&, Recorder*);
template Matrix<Counted> chunk_state(const Program<Counted>&, Matrix<Counted>&, Recorder*);
template Matrix<Counted> chunk_outputs(const Program<Counted>&, const Matrix<Counted>&,
                                       const Matrix<Counted>&, Recorder*);
template Matrix<Counted> parallel(const Program<Counted>&, Matrix<Counted>&, Recorder*,
                                  const std::stop_token&);

}  // namespace palimpsest
