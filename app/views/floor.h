#pragma once

#include <imgui.h>

#include <functional>

#include "app/views/timeline_columns.h"
#include "app/views/transport.h"

namespace palimpsest {

class Application;

/// The panel under the workspaces: `rows` draws over the words, between two corners on the screen, from `top`
/// design pixels below the panel's edge to `gap` above the transport.
void draw_floor_panel(Application& application, const char* name, float top, float gap, RowsAbove above,
                      const std::function<void(ImVec2 from, ImVec2 to)>& rows);

/// The cursor follows the pointer while the last item is dragged.
void scrub(Application& application, TimelineView& view, const TimelineColumns& columns);

/// The wheel zooms around the pointer; sideways it scrolls. Call it where it is over the words.
void turn_wheel(TimelineView& view, const TimelineColumns& columns, const Session& session);

/// The same over the last item, which then owns the wheel.
void turn_wheel_over_item(TimelineView& view, const TimelineColumns& columns, const Session& session);

}  // namespace palimpsest
