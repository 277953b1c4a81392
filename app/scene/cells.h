#pragma once

#include "app/scene/ruler.h"
#include "app/widgets/heat_map.h"

// Few numbers as a table: each in a cell of the colour that it stands for.

namespace palimpsest {

/// What stands beside a row of cells or above a column.
struct CellName {
  std::string words = {};
  std::string number = {};        // before them, in small digits
  std::string brief_number = {};  // where that has no room
  ImU32 number_ink = 0;
  ImU32 ink = 0;
  std::string tip = {};
};

/// A square of numbers above a table, with words between the two. `values` outlive the frame.
struct CellPicture {
  const Matrix<double>* values = nullptr;  // null: there is none
  std::uint64_t version = 0;
  HeatMapLook look = {};
  std::string words = {};
};

/// One of several tables of the same rows and columns, beside each other.
struct CellValues {
  std::string name = {};                 // of its part
  std::vector<std::string> titles = {};  // the first that has room; empty: it has none
  std::string sign = {};                 // between it and the table before
  Matrix<double> values = {};
  std::function<std::string(Cell)> told = {};
  CellPicture picture = {};
  bool is_hidden = false;  // hatched
};

/// A frame around a row.
struct CellRing {
  Index row = 0;
  ImU32 ink = 0;
  float width = 1;  // design pixels
};

struct CellTables {
  std::vector<CellValues> tables = {};
  std::vector<CellName> rows = {};
  std::vector<CellName> columns = {};
  std::vector<CellRing> rings = {};  // the last on top
  double scale = 1;                  // what has the strongest colour
  std::function<std::vector<std::string>(double value, Cell)> written =
      {};                       // the first that has room; empty: the colour alone
  ImVec2 least_cell = {15, 8};  // in design pixels, as all that follow
  ImVec2 most_cell = {52, 34};
  float flat = 0.8F;  // how high a cell is at most for its width
  float names = 84;   // at most
  float picture = 0;  // how high those above the tables are
  style::Text title = style::Text::caption;
  style::Text words = style::Text::caption;  // of rows and columns
  style::Text numbers = style::Text::number_small;
  float between = 44;   // tables
  bool rising = false;  // the words above columns are read from below
  ImU32 ground = 0;     // behind words that lie over something else
};

/// How large the pieces of tables are, in screen pixels.
struct CellPlan {
  float names = 0;
  float titles = 0;    // a line above all
  float pictures = 0;  // and below it, with their words
  float head = 0;      // all that stands above the cells
  float between = 0;
  ImVec2 cell = {};

  ImVec2 size(const CellTables& tables) const;
};

/// Cells as large as there is room for, and no smaller than they may be: then they are larger than the room.
CellPlan plan_cells(const CellTables& tables, ImVec2 room, const Ruler& ruler);

/// Draws them from a corner on. Notes the parts "NAME" of each table, which says its numbers, "row/N" and
/// "column/N" of the first, which say what stands there.
void draw_cells(const CellTables& tables, const CellPlan& plan, ImVec2 corner);

}  // namespace palimpsest
