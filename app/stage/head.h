#pragma once

#include <string>

#include "app/stage/view.h"

namespace palimpsest {

/// The formula of `view` in the colours of the present theme, with the part of the step lit.
std::string head_latex(const StageView& view, const Symbols& symbols);

/// The formula `latex`, as large as fits into the width, what the step asks, and `warning` if there is one.
void draw_head(const std::string& latex, const std::string& sentence, const std::string& warning);

}  // namespace palimpsest
