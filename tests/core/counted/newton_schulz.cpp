#include "tests/core/counted/counted.h"

#include "core/numbers/matrix_functions.cpp"

namespace palimpsest {

using testing::Counted;

template Matrix<Counted> newton_schulz(const Matrix<Counted>&, const NewtonSchulz&, Recorder*);

}  // namespace palimpsest
