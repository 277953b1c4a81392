#pragma once

namespace palimpsest {

class Application;

/// The sliders that change what goes in: gates, strength, key length, and whatever the variant can be told.
void adjusting(Application& application);

}  // namespace palimpsest
