#pragma once

namespace palimpsest {

class Application;

/// A card that finds commands by their words, with their keys and why they cannot be done now.
void draw_palette(Application& application);

}  // namespace palimpsest
