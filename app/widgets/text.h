#pragma once

#include "app/widgets/formula.h"
#include "app/widgets/heat_map.h"
#include "app/widgets/style.h"
#include "core/base/text.h"

/// Helpers for text that several panels share, and its sizes for layouts.

namespace palimpsest {

/// `text` in the current font, cut with "…" where it would be wider than `width` screen pixels.
std::string shortened(std::string_view text, float width);

/// The first of several texts that fits into `width` screen pixels; if none does, the last one, cut.
std::string first_fitting(const std::vector<std::string>& words, float width);

/// The lines of `text` in the current font, wrapped between words at `width` screen pixels: views of `text`,
/// each with at least one letter, or empty for an empty line.
std::vector<std::string_view> wrapped_lines(std::string_view text, float width);

/// The extent of `text` in the current font, and of words in the font of a style; in screen pixels.
ImVec2 text_extent(std::string_view text);
ImVec2 text_extent(style::Text text, std::string_view words);

/// Text with its left upper corner at `position`, in the current font.
void draw_text(ImVec2 position, ImU32 colour, std::string_view text);

/// Draws words with their point `own`, as a fraction of their extent, at `at`. Returns the extent.
ImVec2 draw_words(ImVec2 at, style::Text text, ImU32 colour, std::string_view words, ImVec2 own = {0, 0});

/// Vertical text that reads upwards, with its lower left corner at `position`.
void draw_rising_text(ImVec2 position, ImU32 colour, std::string_view text);

/// Whether the pointer is on a rectangle of the current window; `flags` as for ImGui::IsWindowHovered().
bool is_pointed(const Rectangle& where, ImGuiHoveredFlags flags = 0);

/// Whether the last item should show a tooltip: the pointer rests on it.
bool wants_tooltip();

/// A tooltip for the last item, shown while the pointer rests on it; wraps when long. `key` is the shortcut,
/// if there is one. The tooltip is below the item, or `above` it if there is room.
void tooltip(std::string_view text, std::string_view key = {}, bool above = false);

/// Shows a tooltip beside a rectangle on the screen, without delay: for a part of a picture under the
/// pointer, beside the whole picture.
void tooltip_beside(const Rectangle& item, std::string_view text);

/// Shows the full form of the cut text on which the pointer rests, unless there is another tooltip. To be
/// called once, at the end of a frame.
void tell_cut_words();

/// A text that was cut in the last frame, and its window; for tests.
struct CutPiece {
  std::string whole;
  std::string window;
};
const std::vector<CutPiece>& drawn_cut_words();

/// A length without end, for rooms.
inline constexpr float unbounded = std::numeric_limits<float>::infinity();

/// The sizes of text: all that a layout needs to know of the screen. In screen pixels.
struct Ruler {
  float scale = 1;            // screen pixels per design pixel
  float largest_number = 28;  // letter size of a number in place of a symbol, in design pixels

  /// The size of a formula whose letters are `size` high.
  std::function<FormulaSize(const std::string& latex, float size)> formula;
  /// The extent of such a number; `size` in design pixels.
  std::function<ImVec2(const std::string& digits, float size)> number;
  /// The extent of words on one line.
  std::function<ImVec2(const std::string& words, style::Text text)> words;
  /// `words`, cut with "…" if they are wider than `width`.
  std::function<std::string(const std::string& words, style::Text text, float width)> shortened;
  /// `words`, wrapped at `width`.
  std::function<std::vector<std::string>(const std::string& words, style::Text text, float width)> lines = {};
  /// The same for a formula whose letters are `size` high; all lines but the first are `indent` narrower.
  std::function<std::vector<std::string>(const std::string& latex, float size, float width, float indent)>
      formula_lines = {};

  /// Converts design pixels to screen pixels, rounded to whole ones.
  float px(float design_pixels) const { return std::round(design_pixels * scale); }
};

/// The ruler of the current Dear ImGui context. `compact`: with smaller numbers, for little room.
Ruler screen_ruler(bool compact = false);

}  // namespace palimpsest
