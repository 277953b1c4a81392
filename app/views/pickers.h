#pragma once

#include <string>

namespace palimpsest {

struct Variant;
class Application;
class Session;

/// A pill with the name of what is open, at most `most` screen pixels wide, that lists captures and presets.
void data_picker(Application& application, float most);

/// What stands on that pill: as many parts of the title as have room.
std::string data_label(const Session& session, float most);

/// How wide that pill is: less where a shorter name stands on it.
float data_picker_width(const Application& application, float most);

/// The same for the variants.
void variant_picker(Application& application);

/// How wide the pill of the rule is: as the longest name needs, or in a narrow bar that of `present`.
float variant_picker_width(const Variant& present);

/// A bar narrower than so many design pixels says less: its tabs need the room.
inline constexpr float narrow_bar = 1400;

}  // namespace palimpsest
