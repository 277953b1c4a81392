#pragma once

#include <imgui.h>

#include <string_view>

/// Where what is said about things lies: beside them, so that they can still be seen.
namespace palimpsest {

/// As tooltip(), of what lies in a rectangle on the screen, at once: for a part of a picture under the
/// pointer, beside all of the picture.
void tooltip_beside(ImVec2 minimum, ImVec2 maximum, std::string_view text);

/// While this lives, tooltips lie above their items, where there is room: below them is what they change.
class TooltipsAbove {
 public:
  TooltipsAbove();
  ~TooltipsAbove();
  TooltipsAbove(const TooltipsAbove&) = delete;
  TooltipsAbove& operator=(const TooltipsAbove&) = delete;
};

}  // namespace palimpsest
