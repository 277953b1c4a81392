#pragma once

#include "app/application.h"

namespace palimpsest {

/// The steps and tensors of a block as the panels show them.
struct Shown {
  const Phase& phase;
  const Record& record;
};

/// Block `index` with states as the view wants them: key x value, as they are recorded, or turned
/// (core/steps/turned.h). Valid as long as Trace::record(), and until the next call.
Shown shown(const Application& application, Trace& trace, Index index);

}  // namespace palimpsest
