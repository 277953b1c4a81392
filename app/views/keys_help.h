#pragma once

namespace palimpsest {

class Application;

/// All commands that have a key, on a card.
void draw_keys_help(Application& application);

}  // namespace palimpsest
