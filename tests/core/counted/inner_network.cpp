#include "tests/core/counted/counted.h"

#include "core/engines/inner_network.cpp"

namespace palimpsest {

using testing::Counted;

template class InnerNetwork<Counted>;

}  // namespace palimpsest
