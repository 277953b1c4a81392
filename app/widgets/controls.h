#pragma once

#include "app/widgets/style.h"

/// The controls of all panels. Labels are also their identities ("##" works as in Dear ImGui).

namespace palimpsest::style {

/// Starts a panel in the current window: a rounded surface with padding. `size` is in screen pixels; 0 takes
/// what is left; `padding` in design pixels. Returns false when nothing of it is visible; call end_panel
/// either way.
bool begin_panel(const char* name, ImVec2 size = {0, 0}, ImGuiWindowFlags flags = 0,
                 float padding = panel_padding);

/// Ends a panel, or another child window of which more may be seen by scrolling: lines that its edges cut
/// fade there.
void end_panel();

/// A turning arc around `middle`: something is being computed.
void spinner(ImVec2 middle, ImU32 colour);

/// The look of a button: a rounded outline, filled when chosen; one of several in a common outline; without
/// outline, bright and underlined when chosen; small text; small underlined text; and, not drawn by button(),
/// a line of a list and an icon.
enum class ButtonShape : std::uint8_t { pill, segment, tab, word, link, line, icon };

struct ButtonLook {
  ButtonShape shape = ButtonShape::pill;
  bool chosen = false;
  ImU32 colour = 0;   // of text and outline; 0: as usual
  float width = 0;    // screen pixels; 0: as the text needs
  bool first = true;  // of a row of segments
  bool last = true;
};

/// A button with text; true when pressed.
bool button(const char* label, const ButtonLook& look = {});

/// The room beside the text of a button, and its height, in design pixels; of all but icons.
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
  double reset = 0;             // set by a double click
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

/// The sliders of the last complete frame of the current Dear ImGui context, in order.
std::vector<DrawnSlider> drawn_sliders();

/// Scrolls a slider into view when it is drawn next, and lets the user type its number.
void seek_slider(ImGuiID id);

}  // namespace palimpsest::style

namespace palimpsest {

/// The icons on buttons, drawn from lines on whole pixels so that they are sharp at any scale.
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

/// A button with an icon; `label` is its identity and not drawn. True when pressed. Give it a tooltip.
bool icon_button(const char* label, Icon icon, float design_size = 28);

/// An input field above a long list, which filters its rows. It takes the keyboard when its window appears;
/// letters typed before Dear ImGui gives it the keyboard, some frames later, are not lost.
struct FilterBox {
  std::string typed;
  int moved = 0;         // rows that the arrow keys moved by in this frame
  bool changed = false;  // whether something was typed in this frame
  bool was_entered = false;

  /// Draws it, `width` screen pixels wide; true on Enter. `takes_keyboard`: also whenever no item has the
  /// keyboard.
  bool draw(const char* hint, float width, bool takes_keyboard = false);

 private:
  /// Takes what was typed in this frame while the field does not have the keyboard yet.
  void take_early_words();

  bool is_active_ = false;  // it had the keyboard in the last frame
  bool took_words_ = false;
};

}  // namespace palimpsest
