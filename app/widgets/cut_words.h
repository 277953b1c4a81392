#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

/// Words that are cut for want of room tell the whole of themselves to the pointer, wherever they stand.
namespace palimpsest {

/// Says that `shown`, which ends with "…", stands for `whole`.
void remember_cut(std::string_view shown, std::string_view whole);

/// Says that `shown` was drawn in a rectangle of the current window. If it is cut and the pointer is there,
/// the whole is told at the end of the frame.
void offer_whole(ImVec2 minimum, ImVec2 maximum, std::string_view shown);

/// Tells the whole of the cut words that the pointer rests on, unless something else is told there. Once, at
/// the end of a frame.
void tell_cut_words();

/// Words that were cut in the last frame, and the window that they stood in: what the tests look at.
struct CutPiece {
  std::string whole;
  std::string window;
};
const std::vector<CutPiece>& drawn_cut_words();

}  // namespace palimpsest
