#pragma once

#include <string>
#include <vector>

#include "app/stage/draw.h"
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

/// What the colours mean: for the tensor that is pointed at, or made by this step.
struct Legend {
  Symbol symbol = {};
  bool is_fading = false;    // of decay factors: one is paper, and there is nothing above it
  std::string meaning = {};  // whose the scale is, in a sentence
  std::string less = {};
  std::string more = {};
  std::string scale = {};   // whose it is, where it is not that of a kind
  std::string beyond = {};  // how much of the picture lies beyond its ends
  float name_width = 0;
  float bar_width = 44;  // of the colours on either side of 0
  float width = 0;
};

/// That of `scene`. `shared`: tensors of one kind have one scale.
Legend legend_of(const StageScene& scene, bool shared);

/// As much of it as is no wider than `room`; no more than its smallest.
Legend fitting(const Legend& legend, float room);

/// At the cursor, in the middle of `height`.
void draw(const Legend& legend, float height);

}  // namespace palimpsest
