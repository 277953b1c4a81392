#pragma once

#include "core/engines/inner_network.h"
#include "core/steps/phase.h"

namespace palimpsest {

/// What the steps of an inner network depend on besides its plan.
struct NetworkShown {
  Form form = Form::recurrent;
  bool normalised = false;  // f(x) = x + LN(network(x))
  bool sigma = false;       // there are position factors
  bool scaled = false;      // the query is multiplied by a scale other than 1
  bool divided = false;     // the pieces are shorter than the inner batches
};

/// The steps of one token (primal) or of one piece of an inner batch (dual): spec 3.10 and 3.12.
Steps network_steps(const NetworkPlan& plan, const NetworkShown& shown);

}  // namespace palimpsest
