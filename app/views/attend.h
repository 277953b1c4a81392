#pragma once

#include "app/views/view.h"
#include "app/words/attend.h"

// What the panels of Attend share.

namespace palimpsest {

/// Where the pointer is in the picture, and how large the picture was drawn last.
struct AttendSight {
  Index side = 0;                    // screen pixels; 0: not drawn yet
  PlotPlace dragged = {};            // since the block last moved
  std::optional<Cell> pointed = {};  // the cell under the pointer,
  WeighedBy pointed_by = {};         // in the square of this reader
};

/// That of the current Dear ImGui context.
AttendSight& attend_sight();

/// The rows and columns of the weights in view.
AttentionBlock attended_block(const Session& session);

/// A part of a square that is computed.
struct SeenPart {
  AttentionPart asked;
  std::shared_ptr<const DrawnPart> drawn;
  bool is_coarse = false;
};

/// The parts of a square that are computed so far.
struct SeenWeights {
  bool is_covered = false;           // completely: by the coarse part or all fine ones
  int wanted = 0;                    // number of fine parts
  int there = 0;                     // fine parts that are computed
  Index weights_of_a_pixel = 1;      // a pixel shows the strongest of them
  double range = 0;                  // bound for all but a few weights
  std::vector<SeenPart> parts = {};  // later ones are drawn over earlier ones
};

/// Requests the parts of a square, and returns those that are computed.
SeenWeights seen_weights(Application& application, WeighedBy by);

/// The end of the colour scale: the same for both readers, except for one with much smaller weights.
double attended_range(Application& application, std::optional<WeighedBy> by = {});

/// What is known of the current rule's weights; empty until it is computed.
const AttentionFacts& attention_facts(Application& application);

Known<RowOfWeights> ask_row(Application& application, Index token);

/// A bar's colour: warm adds, cool subtracts. A bar that is short beside `most` stays visible.
ImU32 bar_colour(double number, double most);

/// The colour scale and, `between` design pixels to its right, the sharpness of softmax and the channel.
Node attend_settings(Application& application, float between);

}  // namespace palimpsest
