#pragma once

#include <set>
#include <string>

#include "core/steps/trace.h"

namespace palimpsest {

/// The tensors of role error that are added to states or become states, at once or gathered over blocks: what
/// a state is moved by. Drawn beside states they need the states' scale. Whoever shows them knows their
/// shape: a bias has the same steps as a matrix.
std::set<std::string> state_steps(const Trace& trace);

}  // namespace palimpsest
