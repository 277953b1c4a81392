#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/scene/node.h"
#include "app/session/attention_questions.h"
#include "app/studio/application.h"
#include "app/studio/workspaces.h"

// What the panels of Attend share.

namespace palimpsest {

/// The panels of Attend.
std::span<const Panel> attend_panels();

void draw_attend_side(Application& application);
void draw_attend_floor(Application& application);

/// Where a person looks in the picture, and how large it was drawn last.
struct AttendSight {
  std::string data = {};
  Index tokens = 0;
  AttentionBlock block = {};
  Index side = 0;                    // screen pixels; 0: not drawn yet
  double range = 1;                  // of the colours
  PlotPlace dragged = {};            // since the block last moved
  std::optional<Cell> pointed = {};  // the cell under the pointer,
  WeighedBy pointed_by = {};         // in the square of this reader
};

/// That of the current Dear ImGui context.
AttendSight& attend_sight(const Computation& computed);

/// What there is of a square by now.
struct SeenWeights {
  bool is_covered = false;  // by one coarse part, if not by all fine ones
  int parts = 0;            // of the picture that are there
  int wanted = 0;
  Index weights_of_a_pixel = 1;  // of which it shows the strongest
  double range = 0;              // what all but a few numbers lie within
};

/// Asks for it; what there is goes to `marks`.
SeenWeights seen_weights(Application& application, WeighedBy by, std::vector<PlotMark>* marks = nullptr);

/// What can be shown of the present rule's weights; of none until that is known.
const AttentionFacts& attention_facts(Application& application);

/// What is read at the present token.
Known<RowOfWeights> ask_row(Application& application);

/// A share or weight as it is written: "40 %", "-0.12".
std::string weight_words(double number, bool is_share);

/// A bar's colour: warm adds, cool subtracts. However short beside `most` it is, it can be told from paper.
ImU32 bar_colour(double number, double most);

/// The colours, and so many design pixels to the right the sharpness of softmax and the channel.
scene::Node attend_settings(Application& application, float between);

}  // namespace palimpsest
