#pragma once

#include "app/scene/layout.h"

// Where scenes are shown: in the current window, panels, and what lies over the window.

namespace palimpsest::scene {

/// Draws a scene where it was laid out, in the current window, and notes its named nodes in parts(). What was
/// pressed or set acts when all is drawn: until then what the scene was made from stays as it is.
void draw(const Placed& placed);

/// Lays a scene out in what is left of the current window, draws it there and moves on below it.
void show(const Node& scene);

/// The same in a room of one's own, for a window that is as large as what is in it.
void show_in(const Node& scene, ImVec2 room);

/// The same in a place on the screen, among what is drawn otherwise.
void show_at(const Node& scene, const Rectangle& where);

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

/// Tells a symbol (LaTeX; empty: none), what it is and what papers call it, likewise.
void explain(std::string latex, std::string words, std::string papers);

/// Brings the panel with this title to the front.
inline void focus_panel(const char* title) { ImGui::SetWindowFocus(title); }

/// A bar across the window, `top` screen pixels below its upper edge, `height` high with what is around it.
void show_bar(const char* name, float height, const Node& content, float top = 0);

/// A line at the foot of the window, at its right, framed in a colour.
void show_note(const char* name, Ink frame, const Node& content);

/// How large the program's window is, in design pixels.
inline float window_width() { return ImGui::GetMainViewport()->WorkSize.x / style::scale(); }
inline float window_height() { return ImGui::GetMainViewport()->WorkSize.y / style::scale(); }

/// How many frames were drawn, with this one; and the time at its beginning, in seconds.
inline int frame() { return ImGui::GetFrameCount(); }
inline double now() { return ImGui::GetTime(); }

/// Whether the pointer moves in this frame: at rest it leaves a choice to the keys.
bool pointer_moves();

/// How far the wheel is turned over the present window.
inline float wheel() { return ImGui::IsWindowHovered() ? ImGui::GetIO().MouseWheel : 0; }

/// Whether the last click was the second of two.
inline bool is_second_click() { return ImGui::GetIO().MouseClickedLastCount[ImGuiMouseButton_Left] == 2; }

/// Whether the present card or list has just come; and what closes it.
inline bool appears() { return ImGui::IsWindowAppearing(); }
inline void close() { ImGui::CloseCurrentPopup(); }

/// Whether this key (an ImGuiKeyChord) was pressed in this frame.
inline bool is_pressed(int key) { return ImGui::IsKeyChordPressed(key); }

}  // namespace palimpsest::scene
