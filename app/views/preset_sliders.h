#pragma once

#include <functional>

#include "app/scene/node.h"
#include "app/session/presets.h"

namespace palimpsest {

/// Sliders for the sizes that `preset` has, and its seed. `change` is told when the mouse lets go: data are
/// made anew from the first token.
scene::Node preset_sliders(const Preset& preset, const PresetSize& size,
                           const std::function<void(const PresetSize&)>& change);

}  // namespace palimpsest
