#pragma once

#include <string>

namespace palimpsest {

/// A line above a long list: what is typed leaves those rows whose words begin so. It has the keyboard
/// when its window appears.
struct FilterBox {
  std::string typed;
  int moved = 0;         // by how many rows the arrow keys went in this frame
  bool changed = false;  // whether something was typed in this frame
  bool was_entered = false;

  /// Draws it; true on Enter. `hint` says what is looked for.
  bool draw(const char* hint, float width);
};

}  // namespace palimpsest
