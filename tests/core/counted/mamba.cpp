#include "tests/core/counted/counted.h"

#include "core/engines/mamba.cpp"

namespace palimpsest {

using testing::Counted;

template Matrix<Counted> mamba_recurrent(const MambaRows<Counted>&, Matrix<Counted>&, Recorder*);
template Matrix<Counted> mamba_scan(const MambaRows<Counted>&, Matrix<Counted>&, Recorder*,
                                    const std::stop_token&);

}  // namespace palimpsest
