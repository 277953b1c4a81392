#pragma once

#include "app/views/view.h"

// What other views know of the Stage; and the symbol that the pointer is on, whose pictures it frames.

namespace palimpsest {

/// The steps and tensors of a block as panels show them.
struct Shown {
  const Phase& phase;
  const Record& record;
};

/// The block of Session::sight(), which must have a record. States are key x value as recorded, or transposed
/// if the view asks for it (core/steps/recognised.h). Valid until the next frame.
Shown shown(const Application& application);

/// How often the Stage rebuilt what it shows, and its layout.
struct StageWork {
  int views = 0;  // made so far
  int layouts = 0;
};

/// That of the current Dear ImGui context.
StageWork stage_work();

/// The meaning of a symbol, and how papers write it.
struct SymbolMeaning {
  std::string latex;   // as in our formulas; empty: the symbol is not known
  std::string words;   // its meaning: from the glossary for all rules, else from the steps shown
  std::string papers;  // its other names; may be empty
};

/// The meaning of a symbol in a formula: from `symbols` of the steps that are shown, else from the glossary.
SymbolMeaning meaning(const PointedSymbol& symbol, const Symbols& symbols);

/// Shows a tooltip with the meaning of the symbol on which the pointer rests, in any formula.
void draw_symbol_tip(const Application& application);

}  // namespace palimpsest
