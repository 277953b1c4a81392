#pragma once

#include "app/scene/node.h"
#include "app/stage/draw.h"

namespace palimpsest {

/// How formulas are written on the Stage: in the colours of the present theme. `lit` as in LatexStyle.
LatexStyle stage_latex(std::string lit = {});

/// The formulas of a rule as LaTeX.
struct HeadFormulas {
  std::vector<std::string> latex;
  std::size_t present = 0;
};

/// Those of `view`, the part of the step lit.
HeadFormulas head_formulas(const StageView& view, const Symbols& symbols);

/// As many formulas around the current one as fit side by side, as high as the highest of all, so that
/// nothing below moves. `size`: of the letters, in design pixels.
scene::Node formulas_around(const HeadFormulas& formulas, float size);

/// The current formula alone and uncut, in room for any of them.
scene::Node present_formula(const HeadFormulas& formulas, float size);

/// The colour scale of the tensor that is pointed at, or made by this step, with as much text as fits.
/// `shared`: tensors of one kind have one scale.
scene::Node colour_legend(const StageScene& scene, bool shared);

}  // namespace palimpsest
