#pragma once

#include "app/stage/draw.h"

namespace palimpsest {

/// What the colours mean: for the tensor that is pointed at, or made by this step.
struct Legend {
  Symbol symbol = {};
  bool is_own = false;  // the scale belongs to this picture
  std::string less = {};
  std::string more = {};
  std::string scale = {};
  float name_width = 0;
  float width = 0;
};

/// That of `scene`. `shared`: tensors of one kind have one scale.
Legend legend_of(const StageScene& scene, bool shared);

/// The width that a title in the same line must leave to it.
float room_beside(const Legend& legend);

/// In the line of the panel's title, on the right.
void draw(const Legend& legend);

}  // namespace palimpsest
