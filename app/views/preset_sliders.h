#pragma once

#include "app/session/presets.h"

namespace palimpsest {

/// Sliders for the sizes that `preset` has, and its seed. Returns whether `size` was changed: a slider
/// changes it when the mouse lets go, since data are made anew from the first token.
bool preset_sliders(const Preset& preset, PresetSize& size);

}  // namespace palimpsest
