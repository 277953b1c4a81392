#pragma once

#include <imgui.h>

#include <vector>

#include "app/widgets/heat_map.h"

namespace palimpsest {

/// What words in a chart keep clear of: other words and points, and curves.
struct Taken {
  std::vector<Rectangle> boxes = {};
  std::vector<std::vector<ImVec2>> lines = {};
};

/// Whether a line through points reaches into a rectangle.
bool crosses(const std::vector<ImVec2>& line, const Rectangle& box);

/// Where words are put, and whether they lie over nothing that is taken.
struct LabelPlace {
  ImVec2 at = {};  // the upper left corner
  bool is_free = false;
  float away = 0;  // pixels from the wish; one to a side counts less than one up or down, as words are wide
};

/// A place in `room` for words of this extent, as near to `wish` as can be. Over curves where near the wish
/// all else is taken, and at the wish where even that is.
LabelPlace free_place(const Rectangle& room, const Taken& taken, ImVec2 wish, ImVec2 extent);

}  // namespace palimpsest
