#pragma once

#include <string>

namespace palimpsest {

class Application;

/// A card that finds commands by their words, with their keys and why they cannot be done now.
void draw_palette(Application& application);

/// What is typed in it: what the tests look at.
const std::string& palette_words();

}  // namespace palimpsest
