#pragma once

#include "app/widgets/formula.h"
#include "app/widgets/style.h"

namespace palimpsest {

/// How large letters are: all that a layout must know of the screen. In screen pixels.
struct Ruler {
  float scale = 1;            // screen pixels of a design pixel
  float largest_number = 28;  // of the letters of a number that stands for a symbol, in design pixels

  /// The size of a formula whose letters are `size` high.
  std::function<FormulaSize(const std::string& latex, float size)> formula;
  /// The extent of such a number; `size` in design pixels.
  std::function<ImVec2(const std::string& digits, float size)> number;
  /// Of words that stand on one line.
  std::function<ImVec2(const std::string& words, style::Text text)> words;
  /// `words` cut with "…" where they would be wider than `width`.
  std::function<std::string(const std::string& words, style::Text text, float width)> shortened;
  /// `words` wrapped between words where they would be wider than `width`.
  std::function<std::vector<std::string>(const std::string& words, style::Text text, float width)> lines = {};
  /// The same of a formula whose letters are `size` high; all lines but the first are `indent` less.
  std::function<std::vector<std::string>(const std::string& latex, float size, float width, float indent)>
      formula_lines = {};

  /// Screen pixels of a length in the design, whole ones.
  float px(float design_pixels) const { return std::round(design_pixels * scale); }
};

/// That of the current Dear ImGui context. `compact`: there is little room, numbers are smaller.
Ruler screen_ruler(bool compact = false);

}  // namespace palimpsest
