#pragma once

#include <imgui.h>

namespace palimpsest::style {

inline constexpr float segment_padding = 12;  // on either side of its word, in design pixels

/// Which end of a row of choices a segment is.
struct SegmentPlace {
  bool first = false;
  bool last = false;
  float padding = segment_padding;
};

/// One of several words in a common outline, the chosen one filled; true when pressed. Segments follow each
/// other with ImGui::SameLine(0, 0).
bool segment_button(const char* label, bool selected, SegmentPlace place);

/// The size that segment_button will take.
ImVec2 segment_size(const char* label, float padding = segment_padding);

}  // namespace palimpsest::style
