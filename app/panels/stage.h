#pragma once

#include <vector>

#include "app/widgets/heat_map.h"

namespace palimpsest {

/// Where everything lies that the Stage drew last, on the screen: what the tests look at.
struct StageMap {
  Rectangle panel{};
  std::vector<Rectangle> pieces;  // pictures, captions, signs, titles
};

/// That of the current Dear ImGui context.
StageMap& stage_map();

}  // namespace palimpsest
