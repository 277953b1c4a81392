#pragma once

namespace palimpsest::style {

/// Where a choice stands among those in one outline.
enum class SegmentEnd { none, first, last, both };

/// That of choice `index` of `count` in a row.
SegmentEnd segment_end(int index, int count);

/// One of several choices that share an outline; the selected one is filled. `label` is its identity ("##" as
/// in Dear ImGui). The next one goes on the same line without a gap. `width` in screen pixels, 0: its own.
/// True when pressed.
bool segment(const char* label, bool selected, SegmentEnd end, float design_height = 24, float width = 0);

/// How wide it will be, in screen pixels.
float segment_width(const char* label);

}  // namespace palimpsest::style
