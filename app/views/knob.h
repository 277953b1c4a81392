#pragma once

#include "app/views/view.h"

namespace palimpsest {

/// The knob of a form with chunks: how many words are computed together, and what every size costs.
Node knob(Application& application);

}  // namespace palimpsest
