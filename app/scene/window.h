#pragma once

#include <functional>

#include "app/scene/node.h"

// Where scenes are shown: panels, and what lies over the window.

namespace palimpsest::scene {

/// A card over everything else; sizes in design pixels.
struct Card {
  const char* name = "";
  float widest = 0;     // of what is on it; 0: as it needs
  float highest = 0;    // the same
  float beside = 0;     // that it leaves of the window, both ways
  bool on_top = false;  // its upper edge stays where it is; else it lies in the middle
};

/// Shows it while it is open; a click beside it or Esc closes it. `content` is asked for while it is there,
/// and told whether it has just come.
void show_card(const Card& card, bool& open, const std::function<Node(bool is_new)>& content);

/// A panel in the current window, all of it in sight or scrolled.
void show_panel(const char* name, bool scrolls, const std::function<Node()>& content);

/// The bar across the top of the window, `height` screen pixels high with what is around it.
void show_bar(const char* name, float height, const Node& content);

/// A line at the foot of the window, at its right, framed in a colour.
void show_note(const char* name, Ink frame, const Node& content);

/// How wide the program's window is, in design pixels.
float window_width();

/// What Dear ImGui's own items draw below each other, as wide as there is room; `name` keeps how high that
/// was.
Node by_hand(const std::string& name, std::function<void()> draw);

/// Whether the pointer moves in this frame: at rest it leaves a choice to the keys.
bool pointer_moves();

/// Whether the last click was the second of two.
bool is_second_click();

/// Whether the present card or list has just come; and what closes it.
bool appears();
void close();

/// Whether this key (an ImGuiKeyChord) was pressed in this frame.
bool is_pressed(int key);

}  // namespace palimpsest::scene
