#pragma once

#include "app/views/timeline_columns.h"

namespace palimpsest {

inline constexpr float timeline_gutter = 112;

TimelineColumns timeline_columns(TimelineView& view, const Session& session, ImVec2 position, ImVec2 size);
void zoom_timeline(TimelineView& view, const TimelineColumns& columns, const Session& session, float factor,
                   float x);

}  // namespace palimpsest
