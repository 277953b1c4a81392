#pragma once

namespace palimpsest {

class Application;

/// A pill with the name of what is open, at most `width` screen pixels wide, that lists captures and presets.
void data_picker(Application& application, float width);

/// How wide that pill is with its whole name.
float data_picker_width(const Application& application);

/// The same for the variants.
void variant_picker(Application& application);

/// How wide that pill is: as wide as the longest name, so that nothing beside it moves when another rule is
/// chosen.
float variant_picker_width();

/// A bar narrower than so many design pixels says less: its tabs need the room.
inline constexpr float narrow_bar = 1400;

}  // namespace palimpsest
