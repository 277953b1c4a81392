#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/widgets/heat_map.h"

namespace microtex {
class Render;
}

namespace palimpsest {

/// The extent of a formula in pixels, known before it is painted. The picture is larger by `margin` on each
/// side, so that slanted letters are not cut off.
struct FormulaExtent {
  static constexpr int margin = 2;
  float width = 0;
  float ascent = 0;   // above the baseline
  float descent = 0;  // below
};

/// A symbol in a formula: a letter with its accents and scripts.
struct FormulaMark {
  std::string letter;    // glyph and accents: the same for S_t and S_{t-1}
  std::string symbol;    // with subscripts and superscripts, except for a transpose
  Rectangle where = {};  // in pixels from the upper left corner of its extent
};

/// A formula that is parsed and laid out. `size` is the size of its letters in pixels.
class LaidOutFormula {
 public:
  /// Throws an Error when the formula font cannot be used, another std::exception when the LaTeX cannot be
  /// parsed.
  LaidOutFormula(const std::string& latex, float size);
  ~LaidOutFormula();
  LaidOutFormula(const LaidOutFormula&) = delete;
  LaidOutFormula& operator=(const LaidOutFormula&) = delete;

  FormulaExtent extent() const { return extent_; }

  /// Paints it in `argb` unless the LaTeX sets another colour: 8-bit red, green, blue and alpha (not
  /// premultiplied) of each pixel, [height, width * 4]. The baseline is the lower edge of row
  /// margin + ceil(ascent) - 1, the left end is the left edge of column `margin`. Throws an Error when the
  /// font is damaged.
  Matrix<std::uint8_t> paint(std::uint32_t argb) const;

  /// Its symbols from left to right: slanted and Greek letters, not the names of functions.
  std::vector<FormulaMark> marks() const;

 private:
  std::unique_ptr<microtex::Render> render_;
  FormulaExtent extent_;
};

}  // namespace palimpsest
