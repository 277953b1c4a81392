#include "app/stage/scales.h"

namespace palimpsest {

double kind_range(const Computation& computation, Role role) {
  const KindScales& scales = computation.scales;
  switch (role) {
    case Role::gate:
      return 1;
    case Role::key:
      return scales.key;
    case Role::query:
      return scales.query;
    case Role::value:
    case Role::error:
      return computation.divergence ? 0 : scales.value;
    case Role::output:
      return computation.divergence ? 0 : scales.output;
    case Role::state:
      return computation.divergence ? 0 : computation.recalls->strong_state;
    default:
      return 0;
  }
}

}  // namespace palimpsest
