#pragma once

#include <vector>

#include "app/stage/draw.h"
#include "app/widgets/heat_map.h"

namespace palimpsest {

/// Where everything lies that the Stage drew last, on the screen, and how often it had to think about it:
/// what the tests look at.
struct StageMap {
  Rectangle panel{};
  std::vector<Rectangle> pieces;          // pictures, captions, signs, titles
  std::vector<Rectangle> pointed;         // pictures of the symbol under the pointer
  std::vector<EnlargingPlace> enlarging;  // where a click enlarges a picture
  std::vector<LeadingPlace> leading;      // where it goes to another line
  int views = 0;                          // made so far
  int layouts = 0;
};

/// That of the current Dear ImGui context.
StageMap& stage_map();

}  // namespace palimpsest
