#pragma once

#include "app/scene/floor.h"
#include "app/views/view.h"
#include "app/words/tokens.h"

namespace palimpsest {

/// The rows that the legend explains: the facts of every word; or rows of another view, which say themselves
/// how far a word steps; or none that needs a legend.
enum class RowsAbove { facts, own, none };

/// The panel under a workspace; in design pixels.
struct FloorPanel {
  const char* name = "";    // of what is dragged there
  float top = 10;           // from the panel's edge to what lies in it
  float gap = 4;            // from there to the transport
  float head = 0;           // what stands over the words
  float beside = 0;         // what stands right of them
  ImVec2 least = {60, 80};  // words in less room are left out
  bool has_overview = false;
  RowsAbove legend = RowsAbove::none;
};

/// Where things lie on it, on the screen.
struct FloorPlaces {
  const FloorColumns& columns;
  Rectangle head = {};
  Rectangle beside = {};
  float left = 0;  // of the gutter
};

/// Draws it while something is computed. `draw` gets a floor of the open text that has no rows yet: its
/// words, its groups, what is to come, what is underlined. It is not called where there are no words, or no
/// room.
void draw_floor_panel(Application& application, const FloorPanel& panel,
                      const std::function<void(Floor& floor, const FloorPlaces& places)>& draw);

/// The row under the timeline: buttons, where we are, how far a step goes, how fast playing is, and the
/// legend.
void draw_transport(Application& application, RowsAbove rows = RowsAbove::facts);

/// The floor that draw_floor_panel() begins with, of the open text.
Floor floor_of(const Session& session, const char* id);

/// Where a plot that stands over them has the words.
WordPlaces word_places(const FloorColumns& columns);

/// Draws it in an own row; what stands around it may lie outside of the words.
PlotDone draw_over_words(const Plot& plot, const Rectangle& place);

/// The row of words, and that of the groups' captions; in design pixels.
inline constexpr float floor_words_height = 26;
inline constexpr float floor_captions_height = 16;
FloorRow words_row(float height = floor_words_height, float above = 2);
FloorRow captions_row(float height = floor_captions_height);

/// Draws it, and does what somebody does there: the cursor follows the pointer, with Ctrl a click asks the
/// memory about a word as well or no more, and a link leads to its word.
void show_floor(Application& application, const Floor& floor, const FloorColumns& columns);

// The rows that several floors have, how long their bars are and what they say.

/// How far a bar reaches for what a word keeps, in [0, 1]: the logarithm of the half-life, from a tenth of a
/// word to ten thousand words. A scale of the factor itself would show 0.9 and 0.999 alike.
float half_life_part(double kept);

/// The scale of the bars for lengths, some of which may be very long.
struct LengthScale {
  double full = 0;     // of a bar as high as there is room: 95 % of the finite lengths do not exceed it
  double largest = 0;  // of all finite lengths
};
LengthScale length_scale(std::vector<double> lengths);

/// A bar for one length.
struct LengthBar {
  float part = 0;    // of the height that there is
  bool cut = false;  // it is longer than that, or not finite: a notch shows it
};
LengthBar length_bar(double length, double full);

/// The scales of the visible tokens; of very many, their sample.
struct VisibleScales {
  LengthScale errors;
  double written = 1;
};
VisibleScales visible_scales(const Computation& computed, Index begin, Index end);

/// What words keep, and how much they write: bars that lie under words. Appends the rows that the rule has.
void add_fact_rows(Floor& floor, const Computation& computed, const FloorColumns& columns);

/// How surprised the model was by every word of a typed text; nothing where no model read it.
void add_loss_row(Floor& floor, const Session& session);

/// How far the memory's answer is from a word's value before and after its write; nothing where nobody can
/// ask. `height` in design pixels, 0: what others leave.
void add_error_row(Floor& floor, const Computation& computed, const FloorColumns& columns, float height = 0);

/// “drum” (42), the norm of its error before and after its write; nothing where it is not known.
std::string error_bar_words(const Computation& computed, Index token);

}  // namespace palimpsest
