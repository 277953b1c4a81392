#pragma once

#include "app/views/view.h"

namespace palimpsest {

/// The sliders that change what goes in: gates, strength, key length, and whatever the variant can be told.
Node adjusting_numbers(Application& application);

/// The rest: settings with a few values each, and the way back to what was given.
Node adjusting_options(Application& application);

}  // namespace palimpsest
