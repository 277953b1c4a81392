#pragma once

#include <imgui.h>

#include <cmath>

#include "app/session/state.h"
#include "core/base/colour_map.h"

/// How everything looks: the only place with colours, type and sizes. The state belongs to the current Dear
/// ImGui context, so that a window and a picture drawn off screen can differ.
namespace palimpsest::style {

using palimpsest::Theme;

/// Sets colours, sizes and fonts of the current Dear ImGui context. Call it before the first frame and when
/// theme or scale may have changed, while no style is pushed. Cheap if nothing has changed.
void apply(Theme theme, float scale);

/// What was applied last: dark at scale 1 before the first call.
Theme theme();
float scale();

/// Converts design pixels to screen pixels, rounded to whole ones.
inline float px(float design_pixels) { return std::round(design_pixels * scale()); }

/// The colours of a theme. Text has least_contrast on all of its backgrounds, which style_test.cpp lists.
struct Palette {
  ImU32 background, panel, edge;  // behind the panels; a panel; its outline and the tracks of sliders
  ImU32 text, dim, faint;         // text; captions; what is off or not computed yet
  ImU32 accent, good, alarm;      // the keyboard's focus; forms agree; something is wrong
  ImU32 query, key, value, gate, strength, error;
  ColourMap map;  // of numbers; its zero is the panel

  /// The colour of a symbol, its slider, its bar and its picture's frame. Plain symbols and states have the
  /// text's colour.
  ImU32 role(Role role) const;

  /// The same while something else is highlighted: closer to `faint`.
  ImU32 role_dim(Role role) const;

  /// The background of text under the pointer.
  ImU32 lit_ground() const;
};

/// The least contrast of text with its background (WCAG 2).
inline constexpr double least_contrast = 4.5;

/// The share of the accent colour behind selected letters.
inline constexpr float selection_strength = 0.35F;

/// The contrast of two opaque colours as WCAG 2 defines it, from 1 to 21.
double contrast(ImU32 one, ImU32 other);

/// The colours of a theme, by default the current one.
const Palette& colours(Theme theme);
inline const Palette& colours() { return colours(theme()); }

/// A colour between two; part 0 gives `from`.
ImU32 mix(ImU32 from, ImU32 to, float part);

/// `colour` with an alpha in [0, 1].
ImU32 with_alpha(ImU32 colour, float alpha);

/// "#e9b44c", as LaTeX takes it.
std::string hex(ImU32 colour);
inline ImU32 colour(Rgb8 colour) { return IM_COL32(colour.red, colour.green, colour.blue, 255); }
Rgb8 bytes(ImU32 colour);

/// The text's colour or the panel's, whichever has more contrast on `paper`; black or white if neither has
/// enough.
ImU32 legible_on(Rgb8 paper, const Palette& palette = colours());

/// Distances in design pixels, for px().
inline constexpr float panel_gap = 8;
inline constexpr float panel_padding = 16;
inline constexpr float low_padding = 12;  // of a panel with little height
inline constexpr float corner = 8;
inline constexpr float line = 1;            // width of lines
inline constexpr float hatch = 7;           // between the lines of hatching
inline constexpr float lit_line = 2;        // under and around what is selected or under the cursor
inline constexpr float formula = 26;        // the formula above the Stage
inline constexpr float formula_label = 16;  // a symbol under its matrix or beside its slider

/// The least size of a number that must fit into its cell, relative to the usual size.
inline constexpr float least_number = 0.84F;

/// What a text is for; decides its font and size.
enum class Text {
  body,          // 14
  strong,        // 14, heavier: the token at the cursor, the program's name
  caption,       // 12
  title,         // 16
  headline,      // 19, heavier: the result of a workspace
  story,         // 26, heavier: what has happened
  number,        // 14, digits of one width
  number_small,  // 12, digits of one width
  number_large,  // 28, digits of one width
};

/// The font of a text, and its size in design pixels (what ImGui::PushFont takes).
ImFont* font(Text text);
float font_size(Text text);

/// Uses the font of a text until the end of the scope, in its size or in another.
class TextStyle {
 public:
  explicit TextStyle(Text text) : TextStyle(text, font_size(text)) {}
  TextStyle(Text text, float size) { ImGui::PushFont(font(text), size); }
  ~TextStyle() { ImGui::PopFont(); }
  TextStyle(const TextStyle&) = delete;
  TextStyle& operator=(const TextStyle&) = delete;
};

}  // namespace palimpsest::style
