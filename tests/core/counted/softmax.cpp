#include "tests/core/counted/counted.h"

#include "core/engines/softmax.cpp"

namespace palimpsest {

using testing::Counted;

template struct SoftmaxState<Counted>;
template RowVector<Counted> softmax_stream(const RowVector<Counted>&, const Matrix<Counted>&,
                                           const Matrix<Counted>&, Recorder*);
template void softmax_tile(const Matrix<Counted>&, const Matrix<Counted>&, const Matrix<Counted>&, Index,
                           Index, SoftmaxState<Counted>&, Recorder*);
template Matrix<Counted> softmax_dense(const Matrix<Counted>&, const Matrix<Counted>&, const Matrix<Counted>&,
                                       Index, Recorder*);

}  // namespace palimpsest
