#include "core/engines/lact_on_processor.h"

namespace palimpsest {

template struct LactOnProcessor<double>;
template struct LactOnProcessor<float>;

}  // namespace palimpsest
