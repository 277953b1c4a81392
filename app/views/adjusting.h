#pragma once

namespace palimpsest {

class Application;

/// The sliders that change what goes in: gates, strength, key length, and whatever the variant can be told.
void adjusting(Application& application);

/// The first part of them: what is a number.
void adjusting_numbers(Application& application);

/// The rest: settings with a few values each, and the way back to what was given.
void adjusting_options(Application& application);

}  // namespace palimpsest
