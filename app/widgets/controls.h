#pragma once

#include "app/widgets/style.h"

/// The small pieces that all panels are made of. Labels are also their identities ("##" works as in Dear
/// ImGui).

namespace palimpsest::style {

/// Starts a panel in the current window: a rounded surface with padding. `size` is in screen pixels; 0 takes
/// what is left; `padding` in design pixels. Returns false when nothing of it is visible; call end_panel
/// either way.
bool begin_panel(const char* name, ImVec2 size = {0, 0}, ImGuiWindowFlags flags = 0,
                 float padding = panel_padding);
void end_panel();

/// Ends a child window of which more may be seen by scrolling: lines that its edges cut fade there.
void end_scrolling();

/// A turning arc around `middle`: something is under way.
void spinner(ImVec2 middle, ImU32 colour);

/// How words that can be pressed look: in a rounded outline, filled when chosen; one of several in a common
/// outline; without one, bright and underlined when chosen; small; small and underlined, where nothing else
/// looks like a button.
enum class ButtonShape : std::uint8_t { pill, segment, tab, word, link };

struct ButtonLook {
  ButtonShape shape = ButtonShape::pill;
  bool chosen = false;
  ImU32 colour = 0;   // of words and outline; 0: as usual
  float width = 0;    // screen pixels; 0: as the words need
  bool first = true;  // of a row of segments
  bool last = true;
};

/// Words that can be pressed; true when they are.
bool button(const char* label, const ButtonLook& look = {});

/// How much room there is beside the words of a button, and how high it is, in design pixels.
struct ButtonSize {
  Text text;
  float padding;
  float height;
};
ButtonSize button_size(ButtonShape shape);

/// How a slider behaves.
struct SliderLook {
  double minimum = 0;
  double maximum = 0;
  double reset = 0;             // what a double click goes back to
  const char* format = "%.2f";  // as for printf
  Role role = Role::plain;
  bool logarithmic = false;  // needs a positive minimum
  std::string_view shown{};  // shown in place of the number, such as "learned × 1.00"
};

/// A slider with its symbol (LaTeX, may be empty) and words above the track and its number on the right; true
/// when the value was changed. Dragging and the arrow keys change it, a double click resets it, Ctrl+click
/// takes a typed number. `words` is its identity.
bool slider(const char* symbol, const char* words, double* value, const SliderLook& look);

/// A slider that is on the screen, or in a panel that can be scrolled to it.
struct DrawnSlider {
  std::string symbol;  // LaTeX
  std::string words;
  ImGuiID id = 0;
};

/// Those of the last whole frame of the current Dear ImGui context, in their order.
std::vector<DrawnSlider> drawn_sliders();

/// Brings a slider into sight when it is drawn next, its number ready to be typed over.
void seek_slider(ImGuiID id);

}  // namespace palimpsest::style

namespace palimpsest {

/// The few pictures on buttons, drawn from lines on whole pixels so that they are sharp at any scale.
enum class Icon {
  to_start,
  back,
  play,
  pause,
  forwards,
  to_end,
  mark_back,
  mark_forward,
  minus,
  plus,
  close
};

/// A button with a picture; `label` is its identity and not drawn. True when pressed. Give it a tooltip: no
/// icon speaks for itself.
bool icon_button(const char* label, Icon icon, float design_size = 28);

/// A line above a long list: what is typed leaves those rows whose words begin so. It has the keyboard
/// when its window appears: what is typed before Dear ImGui has given it over, frames later, is not lost.
struct FilterBox {
  std::string typed;
  int moved = 0;         // by how many rows the arrow keys went in this frame
  bool changed = false;  // whether something was typed in this frame
  bool was_entered = false;

  /// Draws it; true on Enter. `hint` says what is looked for; `takes_keyboard`: also where nothing has it.
  bool draw(const char* hint, float width, bool takes_keyboard = false);

 private:
  /// Takes what was typed in this frame while the line does not have the keyboard yet.
  void take_early_words();

  bool is_active_ = false;  // it had the keyboard in the last frame
  bool took_words_ = false;
};

}  // namespace palimpsest
