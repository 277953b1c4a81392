#pragma once

namespace palimpsest {

class Application;

/// Says what the symbol is that the pointer rests on, in whatever formula, and how papers call it.
void draw_symbol_tip(const Application& application);

}  // namespace palimpsest
