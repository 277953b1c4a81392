#pragma once

#include <string>

namespace palimpsest {

/// A line above a long list: what is typed leaves those rows whose words begin so. It has the keyboard
/// when its window appears: what is typed before Dear ImGui has given it over, frames later, is not lost.
struct FilterBox {
  std::string typed;
  int moved = 0;         // by how many rows the arrow keys went in this frame
  bool changed = false;  // whether something was typed in this frame
  bool was_entered = false;

  /// Draws it; true on Enter. `hint` says what is looked for; `takes_keyboard`: also where nothing has it.
  bool draw(const char* hint, float width, bool takes_keyboard = false);

 private:
  /// Takes what was typed in this frame while the line does not have the keyboard yet.
  void take_early_words();

  bool is_active_ = false;  // it had the keyboard in the last frame
  bool took_words_ = false;
};

}  // namespace palimpsest
