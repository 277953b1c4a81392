#pragma once

#include <imgui.h>

#include <string>
#include <vector>

#include "app/widgets/heat_map.h"

namespace palimpsest {

/// Extent of a formula in screen pixels; `baseline` is its distance from the top.
struct FormulaSize {
  float width = 0;
  float height = 0;
  float baseline = 0;
};

/// The extent of a formula whose letters are `size_px` screen pixels high (style::px). LaTeX that cannot be
/// parsed is measured as its source, as it is drawn. Letters too small to be drawn, or of a negative size,
/// take no room. Throws an Error only when the formula font cannot be used.
FormulaSize measure_formula(const std::string& latex, float size_px);

/// Draws a formula with its left end at `position.x` and its baseline at `position.y`, in `colour` unless the
/// LaTeX sets another with \fgcolor{#rrggbb}{…}. LaTeX that cannot be parsed is drawn as its source, and
/// reported on standard error when it becomes visible. Throws an Error when the font cannot be used.
FormulaSize draw_formula(ImDrawList* list, ImVec2 position, const std::string& latex, float size_px,
                         ImU32 colour);

/// A symbol under the pointer, as in FormulaMark.
struct PointedSymbol {
  std::string letter;
  std::string symbol;

  bool operator==(const PointedSymbol&) const = default;
};

/// The symbol of a formula that the pointer was on when formulas were drawn in this frame; null for none.
const PointedSymbol* pointed_symbol();

/// The first symbol of a formula; empty if it has none or cannot be parsed.
PointedSymbol first_symbol(const std::string& latex);

/// The places of symbols in a formula: every place of a letter of `symbols` (LaTeX), in screen pixels from
/// the upper left corner of its extent.
std::vector<Rectangle> symbol_places(const std::string& latex, float size_px,
                                     const std::vector<std::string>& symbols);

/// How many measured formulas are cached, each at its size.
int cached_layouts();

/// How many formulas have a texture now.
int cached_formulas();

/// A formula broken before relations, plus and minus into as few lines as possible, at most `width` screen
/// pixels wide with letters of `size_px` screen pixels; all but the first are `indent` narrower. A piece
/// without such signs stays whole, however wide.
std::vector<std::string> formula_lines(const std::string& latex, float size_px, float width,
                                       float indent = 0);

/// `latex` with brackets of fixed size: lines may break between them.
std::string with_plain_brackets(std::string latex);

}  // namespace palimpsest
