#pragma once

#include "app/stage/draw.h"

namespace palimpsest {

/// What the colours mean: for the tensor that is pointed at, or made by this step.
struct Legend {
  Symbol symbol = {};
  bool is_own = false;     // the scale belongs to this picture
  bool is_joint = false;   // or to what is added up in this step
  bool is_fading = false;  // of decay factors: one is paper, and there is nothing above it
  std::string less = {};
  std::string more = {};
  std::string scale = {};   // whose it is, where it is not that of a kind
  std::string beyond = {};  // how much of the picture lies beyond its ends
  float name_width = 0;
  float bar_width = 44;  // of the colours on either side of 0
  float width = 0;
};

/// That of `scene`. `shared`: tensors of one kind have one scale.
Legend legend_of(const StageScene& scene, bool shared);

/// The same without the words that are worth least: how much lies beyond; then, whose scale it is.
Legend without_beyond(Legend legend);
Legend brief(Legend legend);

/// The same with short bars.
Legend small(Legend legend);

/// As much of it as is no wider than `room`; no more than its smallest.
Legend fitting(const Legend& legend, float room);

/// At the cursor, in the middle of `height`.
void draw(const Legend& legend, float height);

}  // namespace palimpsest
