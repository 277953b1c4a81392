#pragma once

#include "app/views/view.h"
#include "app/widgets/formula.h"
#include "core/formula/expression.h"

namespace palimpsest {

/// What a symbol is, and how papers write it.
struct GlossaryEntry {
  std::string_view latex;   // as our formulas write it
  std::string_view words;   // what it is, in every rule that has it
  std::string_view papers;  // under which other names it is known
};

/// The one table of symbols that several rules share.
std::span<const GlossaryEntry> glossary();

/// What is said of a symbol.
struct SymbolMeaning {
  std::string latex;   // empty: nothing is known of it
  std::string words;   // what it is in the formulas that are shown
  std::string papers;  // empty: it has no other name
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
