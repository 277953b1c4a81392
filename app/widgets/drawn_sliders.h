#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

namespace palimpsest::style {

/// A slider that is on the screen, or in a panel that can be scrolled to it.
struct DrawnSlider {
  std::string symbol;  // LaTeX
  std::string words;
  ImGuiID id = 0;
};

/// Those of the last whole frame of the current Dear ImGui context, in their order.
std::vector<DrawnSlider> drawn_sliders();

/// Brings a slider into sight when it is drawn next, its number ready to be typed over.
void seek_slider(ImGuiID id);

/// Says that a slider is about to be drawn: true if it is the one that is sought.
bool note_slider(std::string_view symbol, std::string_view words, ImGuiID id);

}  // namespace palimpsest::style
