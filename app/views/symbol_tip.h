#pragma once

#include "app/views/view.h"

namespace palimpsest {

/// What a symbol is, and how papers write it.
struct SymbolMeaning {
  std::string latex;   // as our formulas write it; empty: nothing is known of it
  std::string words;   // what it is: in the glossary in every rule that has it, else in what is shown
  std::string papers;  // under which other names it is known; empty: it has none
};

/// What a symbol in a formula is: by `symbols` of the steps that are shown, which know it best, else by the
/// glossary.
SymbolMeaning meaning(const PointedSymbol& symbol, const Symbols& symbols);

/// The symbol that the pointer was on in the last frame, in whatever formula: the pictures of its tensor are
/// framed.
const std::optional<PointedSymbol>& symbol_under_pointer();

/// Says what the symbol is that the pointer rests on, in whatever formula, and how papers call it.
void draw_symbol_tip(const Application& application);

}  // namespace palimpsest
