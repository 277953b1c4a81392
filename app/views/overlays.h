#pragma once

// What lies over the window.

namespace palimpsest {

class Application;

/// All data that can be opened, over the whole window: a list, and what the chosen ones are like.
void draw_data_page(Application& application);

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

}  // namespace palimpsest
