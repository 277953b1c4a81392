#pragma once

#include "app/widgets/formula.h"
#include "app/widgets/style.h"

namespace palimpsest {

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
