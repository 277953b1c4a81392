#pragma once

#include "app/views/view.h"

namespace palimpsest {

/// The meaning of a symbol, and how papers write it.
struct SymbolMeaning {
  std::string latex;   // as in our formulas; empty: the symbol is not known
  std::string words;   // its meaning: from the glossary for all rules, else from the steps shown
  std::string papers;  // its other names; may be empty
};

/// The meaning of a symbol in a formula: from `symbols` of the steps that are shown, else from the glossary.
SymbolMeaning meaning(const PointedSymbol& symbol, const Symbols& symbols);

/// The symbol under the pointer in the last frame, in any formula: the pictures of its tensor are framed.
const std::optional<PointedSymbol>& symbol_under_pointer();

/// Shows a tooltip with the meaning of the symbol on which the pointer rests, in any formula.
void draw_symbol_tip(const Application& application);

}  // namespace palimpsest
