// All other engines on numbers that count.

#include "tests/counted/counted.h"

#include "core/engines/inner_network.cpp"
#include "core/engines/lact.cpp"
#include "core/engines/mamba.cpp"
#include "core/engines/mesanet.cpp"
#include "core/engines/softmax.cpp"
#include "core/numbers/matrix_functions.cpp"

namespace palimpsest {

using testing::Counted;

template class InnerNetwork<Counted>;
template void lact_gather(const Matrix<Counted>&, const Matrix<Counted>&, const Vector<Counted>&,
                          Matrix<Counted>&);
template void lact_update(const LactUpdate<Counted>&, const Matrix<Counted>&, Counted, Matrix<Counted>&,
                          Matrix<Counted>&, Recorder*);
template Matrix<Counted> mamba_recurrent(const MambaRows<Counted>&, Matrix<Counted>&, Recorder*);
template Matrix<Counted> mamba_scan(const MambaRows<Counted>&, Matrix<Counted>&, Recorder*,
                                    const std::stop_token&);
template Matrix<Counted> mesa_recurrent(const MesaRows<Counted>&, MesaState<Counted>&, Recorder*);
template Matrix<Counted> mesa_chunk(const MesaRows<Counted>&, MesaState<Counted>&, Recorder*,
                                    const std::stop_token&, SolveCourse*);
template Matrix<Counted> mesa_solutions(const MesaRows<Counted>&, Matrix<Counted>, Index,
                                        const std::stop_token&);
template Matrix<Counted> mesa_parallel(const MesaRows<Counted>&, MesaState<Counted>&, Recorder*,
                                       const std::stop_token&);
template Matrix<Counted> newton_schulz(const Matrix<Counted>&, const NewtonSchulz&, Recorder*);
template struct SoftmaxState<Counted>;
template RowVector<Counted> softmax_stream(const RowVector<Counted>&, const Matrix<Counted>&,
                                           const Matrix<Counted>&, Recorder*, const Matrix<Counted>&);
template Matrix<Counted> log_decays(const Vector<Counted>&, Index, Index);
template void softmax_tile(const Matrix<Counted>&, const Matrix<Counted>&, const Matrix<Counted>&, Index,
                           Index, SoftmaxState<Counted>&, Recorder*, const Matrix<Counted>&);
template Matrix<Counted> softmax_dense(const Matrix<Counted>&, const Matrix<Counted>&, const Matrix<Counted>&,
                                       Index, Recorder*, const Matrix<Counted>&);

}  // namespace palimpsest
