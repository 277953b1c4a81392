#pragma once

namespace palimpsest {

class Application;

/// All actions with their keys, on a card.
void draw_keys_help(Application& application);

}  // namespace palimpsest
