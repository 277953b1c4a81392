#pragma once

#include <functional>
#include <optional>

#include "app/scene/floor.h"
#include "app/scene/plot.h"
#include "app/session/session.h"
#include "app/views/transport.h"

namespace palimpsest {

class Application;

/// The panel under the workspaces: `rows` draws over the words, between two corners on the screen, from `top`
/// design pixels below the panel's edge to `gap` above the transport. While nothing is computed it is empty.
void draw_floor_panel(Application& application, const char* name, float top, float gap, RowsAbove above,
                      const std::function<void(ImVec2 from, ImVec2 to)>& rows);

/// Which part of the text all floors of the current Dear ImGui context show.
FloorView& floor_view();

/// The open text as a floor has it.
FloorText floor_text(const Session& session);

/// The columns of the words between two corners of a panel's inside; nothing where there are no words, or
/// less room than the design pixels `least`.
std::optional<FloorColumns> columns_between(const Session& session, ImVec2 from, ImVec2 to, ImVec2 least);

/// Where a plot that stands over them has the words.
WordPlaces word_places(const FloorColumns& columns);

/// Draws it in an own row; what stands around it may lie outside of the words.
PlotDone draw_over_words(const Plot& plot, const Rectangle& place);

/// A floor of the open text that has no rows yet: its words, its groups, what is to come, what is underlined.
Floor floor_of(const Session& session, const char* id);

/// The row of words, and that of the groups' captions; in design pixels.
inline constexpr float floor_words_height = 26;
inline constexpr float floor_captions_height = 16;
FloorRow words_row(float height = floor_words_height, float above = 2);
FloorRow captions_row(float height = floor_captions_height);

/// Draws it, and does what somebody does there: the cursor follows the pointer, with Ctrl a click asks the
/// memory about a word as well or no more, and a link leads to its word.
void show_floor(Application& application, const Floor& floor, const FloorColumns& columns);

}  // namespace palimpsest
