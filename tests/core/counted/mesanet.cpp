#include "tests/core/counted/counted.h"

#include "core/engines/mesanet.cpp"

namespace palimpsest {

using testing::Counted;

template Matrix<Counted> mesa_recurrent(const MesaRows<Counted>&, MesaState<Counted>&, Recorder*);
template Matrix<Counted> mesa_chunk(const MesaRows<Counted>&, MesaState<Counted>&, Recorder*,
                                    const std::stop_token&, SolveCourse*);
template Matrix<Counted> mesa_solutions(const MesaRows<Counted>&, Matrix<Counted>, Index,
                                        const std::stop_token&);
template Matrix<Counted> mesa_parallel(const MesaRows<Counted>&, MesaState<Counted>&, Recorder*,
                                       const std::stop_token&);

}  // namespace palimpsest
