#pragma once

#include "app/scene/node.h"

// Shows scenes: in the current window, in panels, and in overlays.

namespace palimpsest::scene {

/// Draws a laid out scene in the current window, and notes its named nodes in parts(). Presses and edits act
/// after everything is drawn, so that the data behind the scene do not change before.
void draw(const Placed& placed);

/// Lays a scene out in the rest of the current window, draws it and moves Dear ImGui's cursor below it.
void show(const Node& scene);

/// The same in a given room (screen pixels), for a window that fits its content.
void show_in(const Node& scene, ImVec2 room);

/// The same in a given rectangle on the screen, among other drawings.
void show_at(const Node& scene, const Rectangle& where);

/// A dialog over everything else; sizes in design pixels.
struct Card {
  const char* name = "";
  float widest = 0;     // largest width of its content; 0: as it needs
  float highest = 0;    // largest height of its content; 0: as it needs
  float beside = 0;     // free margin of the window, in both directions
  bool on_top = false;  // fixed upper edge; else it is centred
};

/// Shows a card while it is open; a click beside it or Esc closes it. `content` is called while it is shown,
/// with whether it has just appeared.
void show_card(const Card& card, bool& open, const std::function<Node(bool is_new)>& content);

/// A panel in the current window, which may scroll. One lower than `low` design pixels has less padding.
void show_panel(const char* name, bool scrolls, const std::function<Node()>& content, float low = 0);

/// The same, named as the window is.
void show_panel(bool scrolls, const std::function<Node()>& content);

/// Shows a symbol (LaTeX; empty: none), its meaning and its names in papers, in place of the tooltip of the
/// item under the pointer.
void explain(std::string latex, std::string words, std::string papers);

inline void focus_panel(const char* title) { ImGui::SetWindowFocus(title); }

/// Draws the text of an editor in a rectangle of the current window and lets the user edit it. Returns the
/// text when a short pause follows a change; nothing otherwise.
std::optional<std::string> edit(const Editor& editor, const std::string& label, const Rectangle& where);

/// A bar across the window, `top` screen pixels below its upper edge and `height` high, including padding.
void show_bar(const char* name, float height, const Node& content, float top = 0);

/// A line at the lower right of the window, in a coloured frame.
void show_note(const char* name, Ink frame, const Node& content);

/// The size of the program's window, in design pixels.
inline float window_width() { return ImGui::GetMainViewport()->WorkSize.x / style::scale(); }
inline float window_height() { return ImGui::GetMainViewport()->WorkSize.y / style::scale(); }

/// The number of frames so far, including this one; and the time at its begin, in seconds.
inline int frame() { return ImGui::GetFrameCount(); }
inline double now() { return ImGui::GetTime(); }

/// Whether the pointer moves in this frame; while it rests, keys may choose.
inline bool pointer_moves() { return ImGui::GetIO().MouseDelta != ImVec2(0, 0); }

/// The wheel's movement over the current window, in lines.
inline float wheel() { return ImGui::IsWindowHovered() ? ImGui::GetIO().MouseWheel : 0; }

inline bool is_second_click() { return ImGui::GetIO().MouseClickedLastCount[ImGuiMouseButton_Left] == 2; }

/// Whether the current card or list has just appeared; and a way to close it.
inline bool appears() { return ImGui::IsWindowAppearing(); }
inline void close() { ImGui::CloseCurrentPopup(); }

/// Whether this key (an ImGuiKeyChord) was pressed in this frame.
inline bool is_pressed(int key) { return ImGui::IsKeyChordPressed(key); }

}  // namespace palimpsest::scene
