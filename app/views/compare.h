#pragma once

#include <imgui.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/scene/plot.h"
#include "app/session/compare_questions.h"
#include "app/session/computation.h"
#include "app/studio/application.h"
#include "app/studio/workspaces.h"
#include "app/views/floor_rows.h"
#include "app/widgets/heat_map.h"

// What the panels of Compare share.

namespace palimpsest {

/// The panels of Compare.
std::span<const Panel> compare_panels();

void draw_compare(Application& application);
void draw_compare_floor(Application& application);

/// A side as it is known by now.
struct ComparedSide {
  std::size_t index = 0;  // among the sides of the state
  Side side = {};
  std::optional<std::size_t> same_as = {};  // a column further left, from 0, with the same rule and settings
  bool is_reference = false;
  bool has_handle = false;
  std::shared_ptr<const Computation> computed = {};  // null: not there yet, or `reason` says why not
  std::shared_ptr<const SideMoment> moment = {};
  std::shared_ptr<const RecallOfTokens::Value> recall = {};
  std::string reason = {};
  bool is_old = false;  // something of it belongs to another place or choice
};

/// All sides in the order in which they stand, and the scale of their memories.
struct ComparedSides {
  std::vector<ComparedSide> sides;
  double range = 1;  // the mean, of their logarithms, of what 95 % of each one's numbers lie within
};

/// Asks for them as they are wanted in this frame.
ComparedSides compared(Application& application);

/// The colour of a side: its column, its place on the rail, its line.
ImU32 side_colour(std::size_t index);

/// What a side is called: by its stop on the rail, else by its rule; with what is otherwise about it.
std::string side_name(const Side& side);

/// What Compare drew last: what the tests look at.
struct CompareMap {
  struct Column {
    std::size_t index = 0;
    Rectangle place = {};
    std::vector<std::pair<std::string, Rectangle>> parts;  // from top to bottom
    std::shared_ptr<const SideMoment> moment;
    std::string formula;             // its LaTeX
    std::vector<std::string> boxed;  // its symbols that the side on its left lacks
    std::string reason;
    std::string sentence;               // in full
    std::vector<std::string> captions;  // above its pictures
    double answer_scale = 0;            // of the colours of what it answers; 0: nothing is
  };
  std::vector<Column> columns;
  std::vector<ImVec2> stops;  // of the rail
  std::vector<Rectangle> stop_words;
  ImVec2 handle = {};
  double range = 0;
};

/// That of the current Dear ImGui context.
CompareMap& compare_map();

/// The scale of what is left of errors on all sides, kept while they stay the same.
LengthScale compared_scale(const ComparedSides& all);

/// What is left of the error after each word on every side, each with its name where it ends.
Plot compared_errors_plot(const ComparedSides& all, const LengthScale& scale, const WordPlaces& places,
                          Index present);

/// The rail, in a panel of this height.
void draw_rail(Application& application, const ComparedSides& all, float height);

/// The sides beside each other in what is left of the window.
void draw_columns(Application& application, const ComparedSides& all);

/// What one can do with a side: another rule, form, precision or option. To be called where the popup
/// "another side" was opened.
void draw_side_menu(Application& application, const ComparedSide& side);

}  // namespace palimpsest
