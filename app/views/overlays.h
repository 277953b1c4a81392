#pragma once

#include <string>

// What lies over the window.

namespace palimpsest {

class Application;

/// Where a card lies: in the middle, or so that its upper edge stays where it is.
enum class CardPlace { middle, top };

/// A card over everything else while `open`; a click beside it or Esc closes it. True while it is there: draw
/// its content, then call end_card.
bool begin_card(const char* name, bool& open, CardPlace place = CardPlace::middle);
void end_card();

/// All data that can be opened, over the whole window: a list, and what the chosen ones are like.
void draw_data_page(Application& application);

/// The id of the data that it previews, empty where it previews nothing: what the tests look at.
const std::string& previewed_data();

/// All commands that have a key, on a card.
void draw_keys_help(Application& application);

/// A card to open a file: a path, and what lies in its folder.
void draw_open_dialog(Application& application);

/// The card that asks where something is to be saved.
void draw_save_dialog(Application& application);

/// The card with the pinned places: their order and names.
void draw_places_card(Application& application);

/// A card that finds commands by their words, with their keys and why they cannot be done now.
void draw_palette(Application& application);

/// What is typed in it: what the tests look at.
const std::string& palette_words();

}  // namespace palimpsest
