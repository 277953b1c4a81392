#pragma once

#include <string>
#include <vector>

#include "app/stage/view.h"

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

/// As many formulas around the present one as fit into the width beside each other, centred; the present one
/// smaller if it does not fit alone. `is_low`: there is little height.
void draw_head(const HeadFormulas& formulas, bool is_low = false);

/// How wide the widest of them is where letters are 1 pixel high: whichever is the present one has room in as
/// many times that.
float widest_formula(const HeadFormulas& formulas);

/// The same of the highest.
float highest_formula(const HeadFormulas& formulas);

/// The present one alone, its letters `size` screen pixels high, on the right end of a line that ends at
/// `right` and has its middle at `middle`.
void draw_present_formula(const HeadFormulas& formulas, float right, float middle, float size);

/// Words below it that warn.
void draw_warning(const std::string& warning);

}  // namespace palimpsest
