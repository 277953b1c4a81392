#pragma once

#include <optional>

#include "app/widgets/formula.h"

namespace palimpsest {

class Application;

/// The symbol that the pointer was on in the last frame, in whatever formula: the pictures of its tensor are
/// framed.
const std::optional<PointedSymbol>& symbol_under_pointer();

/// Says what the symbol is that the pointer rests on, in whatever formula, and how papers call it.
void draw_symbol_tip(const Application& application);

}  // namespace palimpsest
