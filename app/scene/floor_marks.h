#pragma once

#include "app/scene/floor.h"

// How the rows of a floor are drawn, of which draw_floor() knows where they lie.

namespace palimpsest {

/// The marks, lines and numbers of a row in `place`, over the present clip rectangle.
void draw_floor_marks(const Floor& floor, const FloorRow& row, const FloorColumns& columns,
                      const Rectangle& place);

/// What it is called and the words of its lines, left of the columns from `gutter` on. Notes the part
/// "ROW/name".
void draw_floor_label(const FloorRow& row, const FloorColumns& columns, const Rectangle& place, float gutter);

}  // namespace palimpsest
