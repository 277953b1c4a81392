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

/// A panel in the current window, all of it in sight or scrolled. There is less room around what is in one
/// that is lower than `low` design pixels.
void show_panel(const char* name, bool scrolls, const std::function<Node()>& content, float low = 0);

/// Tells it in the place of what the item under the pointer says of itself.
void show_tip(const Node& content);

/// Brings the panel with this title to the front.
void focus_panel(const char* title);

/// A bar across the window, `top` screen pixels below its upper edge, `height` high with what is around it.
void show_bar(const char* name, float height, const Node& content, float top = 0);

/// A line at the foot of the window, at its right, framed in a colour.
void show_note(const char* name, Ink frame, const Node& content);

/// How large the program's window is, in design pixels.
float window_width();
float window_height();

/// How many frames were drawn, with this one; and the time at its beginning, in seconds.
int frame();
double now();

/// Whether the pointer moves in this frame: at rest it leaves a choice to the keys.
bool pointer_moves();

/// How far the wheel is turned over the present window.
float wheel();

/// Whether the last click was the second of two.
bool is_second_click();

/// Whether the present card or list has just come; and what closes it.
bool appears();
void close();

/// Whether this key (an ImGuiKeyChord) was pressed in this frame.
bool is_pressed(int key);

}  // namespace palimpsest::scene
