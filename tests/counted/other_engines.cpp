// All other engines on numbers that count.

#include "tests/counted/counted.h"

#include "core/engines/inner_network.cpp"
#include "core/engines/lact_on_processor.h"
#include "core/engines/mamba.cpp"
#include "core/engines/mesanet.cpp"
#include "core/engines/softmax.cpp"
#include "core/numbers/matrix_functions.cpp"

namespace palimpsest {

using testing::Counted;

template Matrix<Counted> compute_block(const EngineRequest&, const NetworkRows<Counted>&, Carried<Counted>&);
template struct LactOnProcessor<Counted>;
template Matrix<Counted> compute_block(const EngineRequest&, const MambaRows<Counted>&, Carried<Counted>&);
template Matrix<Counted> compute_block(const EngineRequest&, const MesaRows<Counted>&, Carried<Counted>&);
template Matrix<Counted> newton_schulz(const Matrix<Counted>&, const NewtonSchulz&, Recorder*);
template Matrix<Counted> log_decays(const Vector<Counted>&, Index, Index);
template Matrix<Counted> compute_block(const EngineRequest&, const CachedQueries<Counted>&,
                                       Carried<Counted>&);

}  // namespace palimpsest
