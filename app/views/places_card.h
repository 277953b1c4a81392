#pragma once

namespace palimpsest {

class Application;

/// The card with the pinned places: their order and names.
void draw_places_card(Application& application);

}  // namespace palimpsest
