#include "app/stage/scales.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/gl/context_local.h"

namespace palimpsest {

namespace {

constexpr double states_beyond_typical = 3;  // 99.7 % of normal numbers lie within three times their rms

std::vector<double> of_memories(const Computation& computation, double Recall::*member) {
  std::vector<double> numbers;
  for (const TokenFacts& facts : computation.tokens) {
    if (facts.recall) numbers.push_back((*facts.recall).*member);
  }
  return numbers;
}

/// From each memory's size, because keeping all memories would take too much room.
double strong_state(const Computation& computation) {
  const double typical = quantile(of_memories(computation, &Recall::root_mean_square), nearly_all);
  return std::min(states_beyond_typical * typical, quantile(of_memories(computation, &Recall::largest), 1));
}

/// The states' scale of one computation.
double known_state(const Computation& computation) {
  struct KnownState {
    std::uint64_t version = 0;
    double scale = 0;
  };
  auto& known = context_local<KnownState>();
  if (known.version != computation.version) known = {computation.version, strong_state(computation)};
  return known.scale;
}

}  // namespace

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
      return computation.divergence ? 0 : known_state(computation);
    default:
      return 0;
  }
}

}  // namespace palimpsest
