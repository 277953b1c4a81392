#pragma once

#include "app/scene/node.h"

namespace palimpsest {

class Application;

/// The knob of a form with chunks: how many words are computed together, and what every size costs.
scene::Node knob(Application& application);

}  // namespace palimpsest
