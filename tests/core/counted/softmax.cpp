#include "tests/core/counted/counted.h"

#include "core/engines/softmax.cpp"

namespace palimpsest {

using testing::Counted;

template struct SoftmaxState<Counted>;
template RowVector<Counted> softmax_stream(const RowVector<Counted>&, const Matrix<Counted>&,
                                           const Matrix<Counted>&, Recorder*, const Matrix<Counted>&);
template Matrix<Counted> log_decays(const Vector<Counted>&, Index, Index);
template void softmax_tile(const Matrix<Counted>&, const Matrix<Counted>&, const Matrix<Counted>&, Index,
                           Index, SoftmaxState<Counted>&, Recorder*, const Matrix<Counted>&);
template Matrix<Counted> softmax_dense(const Matrix<Counted>&, const Matrix<Counted>&, const Matrix<Counted>&,
                                       Index, Recorder*, const Matrix<Counted>&);

}  // namespace palimpsest
