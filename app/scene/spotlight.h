#pragma once

#include <optional>
#include <set>

#include "app/scene/parts.h"

namespace palimpsest::scene {

/// Some parts of the window, by their paths, that are pointed at while the rest is dimmed.
struct Spotlight {
  std::vector<std::string> spots = {};  // framed and numbered from 1
  bool dims = true;                     // the rest
  std::vector<std::string> kept = {};   // not dimmed
};

/// Draws it over everything. Spots that are not shown in this frame are left out. Returns whether somebody
/// pressed outside of all of them.
bool draw_spotlight(const Spotlight& light);

/// Cells of a table that the user marks.
struct MarkedCells {
  using Cells = std::set<std::pair<Index, Index>>;

  std::string table = {};  // the path of the part
  Index rows = 0;
  Index columns = 0;
  Cells marked = {};
  std::optional<Cells> right = {};                     // those that should be marked, once they may be seen
  std::optional<std::pair<Index, Index>> cursor = {};  // of the keyboard
};

/// Draws marks over the table: white corners; green ones for hits, red ones for wrong marks, dashed frames
/// for cells that were missed. Returns the cell that was pressed.
std::optional<std::pair<Index, Index>> draw_marks(const MarkedCells& cells);

}  // namespace palimpsest::scene
