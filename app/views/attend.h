#pragma once

#include "app/views/view.h"
#include "app/words/attend.h"

// What the panels of Attend share.

namespace palimpsest {

/// Where the pointer is in the picture, and how large that was drawn last.
struct AttendSight {
  Index side = 0;                    // screen pixels; 0: not drawn yet
  PlotPlace dragged = {};            // since the block last moved
  std::optional<Cell> pointed = {};  // the cell under the pointer,
  WeighedBy pointed_by = {};         // in the square of this reader
};

/// That of the current Dear ImGui context.
AttendSight& attend_sight();

/// What is looked at of all weights.
AttentionBlock attended_block(const Session& session);

/// A part of a square that is there.
struct SeenPart {
  AttentionPart asked;
  std::shared_ptr<const DrawnPart> drawn;
  bool is_coarse = false;
};

/// What there is of a square by now.
struct SeenWeights {
  bool is_covered = false;           // by one coarse part, if not by all fine ones
  int wanted = 0;                    // fine parts,
  int there = 0;                     // and how many of them are there
  Index weights_of_a_pixel = 1;      // of which it shows the strongest
  double range = 0;                  // what all but a few numbers lie within
  std::vector<SeenPart> parts = {};  // the later over the earlier
};

/// Asks for it.
SeenWeights seen_weights(Application& application, WeighedBy by);

/// The end of the colours: the same for both readers, but for one whose weights are much smaller.
double attended_range(Application& application, std::optional<WeighedBy> by = {});

/// What can be shown of the present rule's weights; of none until that is known.
const AttentionFacts& attention_facts(Application& application);

/// What is read at a token.
Known<RowOfWeights> ask_row(Application& application, Index token);

/// A bar's colour: warm adds, cool subtracts. However short beside `most` it is, it can be told from paper.
ImU32 bar_colour(double number, double most);

/// The colours, and so many design pixels to the right the sharpness of softmax and the channel.
Node attend_settings(Application& application, float between);

}  // namespace palimpsest
