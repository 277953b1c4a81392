#pragma once

#include <imgui.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/scene/node.h"
#include "app/session/attention_questions.h"
#include "app/studio/application.h"
#include "app/studio/workspaces.h"
#include "app/widgets/heat_map.h"

// What the panels of Attend share.

namespace palimpsest {

/// The panels of Attend.
std::span<const Panel> attend_panels();

void draw_attend(Application& application);
void draw_attend_side(Application& application);
void draw_attend_floor(Application& application);

/// What Attend drew last: what the tests look at.
struct AttendMap {
  struct Square {
    WeighedBy by = WeighedBy::rule;
    Rectangle place = {};
    bool is_covered = false;  // by one coarse part, if not by all fine ones
    int parts = 0;            // of the picture that are there
    int wanted = 0;
    Index weights_of_a_pixel = 1;  // of which it shows the strongest
    float row_end = 0;             // of the frame around the present row
    Index loupe_column = -1;       // in its middle
  };
  /// A word below the columns of a square.
  struct ColumnWord {
    WeighedBy by = WeighedBy::rule;
    Index token = 0;
    float middle = 0;  // of its line, on the screen
    std::string words = {};
    float lane = 0;
  };
  std::vector<Square> squares;
  std::vector<ColumnWord> columns;
  AttentionBlock block = {};
  double range = 0;           // of the colours
  bool has_settings = false;  // stand below the squares, not at the side
  std::string reason;         // why the rule has no weights
  bool has_loupe = false;
  int numberless = 0;                       // of its cells that should have a number
  std::vector<Rectangle> column_words;      // below the squares
  std::shared_ptr<const RowOfWeights> row;  // beside the squares and on the floor
};

/// That of the current Dear ImGui context.
AttendMap& attend_map();

/// What can be shown of the present rule's weights; of none until that is known.
const AttentionFacts& attention_facts(Application& application);

/// A square of weights on the screen.
struct AttendSquare {
  Application& application;
  const Computation& computed;
  WeighedBy by = WeighedBy::rule;
  AttentionBlock block = {};
  ImVec2 from = {};
  float side = 0;
  bool is_small = false;  // there is no room for all words along it
  double range = 1;       // of its colours

  Rectangle cell(Index row, Index column) const;

  ImVec2 to() const { return {from.x + side, from.y + side}; }
};

/// How the weights of a reader are asked for as the view wants them.
Reading reading_of(Application& application, WeighedBy reader);

/// Draws what there is of a square by now, the rest coarsely. Returns what all but a few numbers lie within.
double draw_weights(const AttendSquare& square);

/// A few cells around one, large, with their numbers.
void draw_loupe(const AttendSquare& square, ImVec2 from, float side, Index row, Index column);

/// What is read at the present token.
Known<RowOfWeights> ask_row(Application& application);

/// A share or weight as it is written: "40 %", "-0.12".
std::string weight_words(double number, bool is_share);

/// A bar's colour: warm adds, cool subtracts. However short beside `most` it is, it can be told from paper.
ImU32 bar_colour(double number, double most);

/// The colours, and so many design pixels to the right the sharpness of softmax and the channel.
scene::Node attend_settings(Application& application, float between);

}  // namespace palimpsest
