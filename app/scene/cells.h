#pragma once

#include "app/widgets/text.h"

// Small tables of numbers, with a coloured cell for each.

namespace palimpsest {

/// The label beside a row of cells or above a column.
struct CellName {
  std::string words = {};
  std::string number = {};        // before the words, in small digits
  std::string brief_number = {};  // if `number` does not fit
  ImU32 number_ink = 0;
  ImU32 ink = 0;
  std::string tip = {};
};

/// A heat map above a table, with text between the two. `values` must outlive the frame.
struct CellPicture {
  const Matrix<double>* values = nullptr;  // null: there is none
  std::uint64_t version = 0;
  HeatMapLook look = {};
  std::string words = {};
};

/// One of several tables side by side with the same rows and columns.
struct CellValues {
  std::string name = {};                 // of its part
  std::vector<std::string> titles = {};  // the first that fits is shown; empty: no title
  std::string sign = {};                 // between this table and the one before
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
  double scale = 1;                  // magnitude of the strongest colour
  std::function<std::vector<std::string>(double value, Cell)> written =
      {};                       // the first that fits is shown; empty: the colour alone
  ImVec2 least_cell = {15, 8};  // in design pixels, as all that follow
  ImVec2 most_cell = {52, 34};
  float flat = 0.8F;  // largest height of a cell, relative to its width
  float names = 84;   // largest width of row names
  float picture = 0;  // height of the pictures above the tables
  style::Text title = style::Text::caption;
  style::Text words = style::Text::caption;  // of rows and columns
  style::Text numbers = style::Text::number_small;
  float between = 44;   // tables
  bool spread = false;  // each in the middle of an equal part of the room
  bool rising = false;  // the words above columns are vertical
  ImU32 ground = 0;     // background of words drawn over something else
};

/// The sizes of the pieces of tables, in screen pixels.
struct CellPlan {
  float names = 0;
  float titles = 0;    // the line at the top
  float pictures = 0;  // the pictures below it, with their text
  float head = 0;      // everything above the cells
  float between = 0;
  ImVec2 cell = {};

  ImVec2 size(const CellTables& tables) const;
};

/// Cells as large as fit into `room` (screen pixels), but at least `least_cell`: then they exceed the room.
CellPlan plan_cells(const CellTables& tables, ImVec2 room, const Ruler& ruler);

/// Draws the tables with their upper left corner at `corner`. Notes the parts "NAME" of each table, with its
/// numbers, and "row/N" and "column/N" of the first, with their labels.
void draw_cells(const CellTables& tables, const CellPlan& plan, ImVec2 corner);

}  // namespace palimpsest
