#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace microtex {
class Render;
}

namespace palimpsest {

/// A formula as pixels: 8-bit red, green, blue and alpha (not premultiplied), rows from top to bottom.
struct FormulaPicture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgba;
};

/// What is known before anything is painted, in pixels. The picture may reach a little beyond, by `margin` on
/// each side, so that slanted letters are not cut off.
struct FormulaExtent {
  static constexpr int margin = 2;
  float width = 0;
  float ascent = 0;   // above the baseline
  float descent = 0;  // below
};

/// A symbol in a formula: a letter with what stands around it.
struct FormulaMark {
  std::string letter;  // glyph and accents: the same for S_t and S_{t-1}
  std::string symbol;  // and with what is set below and above it, but for a transpose
  float left = 0, top = 0, right = 0, bottom = 0;  // pixels from the upper left corner of its extent
};

/// A formula that has been read and laid out. `size` is the size of its letters in pixels.
class LaidOutFormula {
 public:
  /// Throws an Error when the formula font cannot be used, another std::exception when the LaTeX cannot be
  /// read.
  LaidOutFormula(const std::string& latex, float size);
  ~LaidOutFormula();
  LaidOutFormula(const LaidOutFormula&) = delete;
  LaidOutFormula& operator=(const LaidOutFormula&) = delete;

  FormulaExtent extent() const { return extent_; }

  /// Paints it in `argb` where the LaTeX does not say another colour. Its baseline is the lower edge of row
  /// margin + ceil(ascent) - 1, its left end the left edge of column `margin`. Throws an Error when the font
  /// is damaged.
  FormulaPicture paint(std::uint32_t argb) const;

  /// Its symbols from left to right as they are drawn: slanted and Greek letters, not the names of functions.
  std::vector<FormulaMark> marks() const;

 private:
  std::unique_ptr<microtex::Render> render_;
  FormulaExtent extent_;
};

}  // namespace palimpsest
