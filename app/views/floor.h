#pragma once

#include "app/scene/floor.h"
#include "app/views/view.h"
#include "app/words/step.h"

namespace palimpsest {

/// The rows that the legend explains: the facts of every token; or the view's own rows, which show the step
/// size themselves; or none.
enum class RowsAbove { facts, own, none };

/// The panel under a workspace; in design pixels.
struct FloorPanel {
  const char* name = "";    // of the panel and its floor
  float top = 10;           // from the panel's edge to what lies in it
  float gap = 4;            // from there to the transport
  float head = 0;           // room above the tokens
  float beside = 0;         // room right of them
  ImVec2 least = {60, 80};  // with less room the tokens are left out
  bool has_overview = false;
  RowsAbove legend = RowsAbove::none;
};

/// The places of its parts, in screen pixels.
struct FloorPlaces {
  const FloorColumns& columns;
  Rectangle head = {};
  Rectangle beside = {};
  float left = 0;  // of the gutter
};

/// Draws the panel, which is empty until a computation exists. `draw` gets a floor of the open text without
/// rows: its tokens, groups, future and underlined tokens. It is not called without tokens or room.
void draw_floor_panel(Application& application, const FloorPanel& panel,
                      const std::function<void(Floor& floor, const FloorPlaces& places)>& draw);

/// The row under the timeline: buttons, the position, the size of a step, the playing speed, and the legend.
void draw_transport(Application& application, RowsAbove rows = RowsAbove::facts);

/// The floor that draw_floor_panel() begins with, of the open text.
Floor floor_of(const Session& session, const char* id);

/// The places of the tokens for a plot above them.
WordPlaces word_places(const FloorColumns& columns);

/// Draws a plot over the tokens; its axis labels may lie outside of their columns.
PlotDone draw_over_words(const Plot& plot, const Rectangle& place);

/// Heights of the row of tokens and of the row of group captions; in design pixels.
inline constexpr float floor_words_height = 26;
inline constexpr float floor_captions_height = 16;
FloorRow words_row(float height = floor_words_height, float above = 2);
FloorRow captions_row(float height = floor_captions_height);

/// Draws the floor and handles input: the cursor follows the pointer while the button is held, Ctrl+click
/// adds or removes a token to query, and a link goes to its token.
void show_floor(Application& application, const Floor& floor, const FloorColumns& columns);

// The rows that several floors share: the scales of their bars and their texts.

/// The height of the bar for a decay factor, in [0, 1]: the logarithm of the half-life, from 0.1 to 10,000
/// tokens. On a linear scale of the factor, 0.9 and 0.999 would look alike.
float half_life_part(double kept);

/// The scale of the bars for norms, some of which may be very large.
struct LengthScale {
  double full = 0;     // norm of a full bar: 95 % of the finite norms do not exceed it
  double largest = 0;  // of all finite norms
};
LengthScale length_scale(std::vector<double> lengths);

/// A bar for one norm.
struct LengthBar {
  float part = 0;    // of the full height
  bool cut = false;  // clipped, or not finite: a notch shows it
};
LengthBar length_bar(double length, double full);

/// The scales of the visible tokens; of very many, their sample.
struct VisibleScales {
  LengthScale errors;
  double written = 1;
};
VisibleScales visible_scales(const Computation& computed, Index begin, Index end);

/// Appends the rows of decay and write strength under the tokens, as far as the rule has them.
void add_fact_rows(Floor& floor, const Computation& computed, const FloorColumns& columns);

/// Appends the model's loss at every token of a typed text; nothing if no model read it.
void add_loss_row(Floor& floor, const Session& session);

/// Appends ‖e‖ of every token before and after its write; nothing if the memory cannot be queried. `height`
/// in design pixels; 0: the rest of the room.
void add_error_row(Floor& floor, const Computation& computed, const FloorColumns& columns, float height = 0);

/// The token and the norm of its error before and after its write; empty where it is not known.
std::string error_bar_words(const Computation& computed, Index token);

// The tokens that are underlined.

/// Names the tokens that a view queries the memory for, in the order of the text; the floor underlines them.
/// To be called in every frame: the names disappear with the view.
void name_words(std::vector<Index> tokens);

/// How strongly every token writes: [T]; 0 where that is not known or not finite.
std::vector<double> write_strengths(std::span<const TokenFacts> tokens);

/// The tokens among the first `reached` whose writes were strongest, in the order of the text: up to `most`
/// with different labels, each at least half as strong as the strongest. Looks back no further than 16384
/// tokens.
std::vector<Index> strongest_writes(std::span<const double> strengths, std::span<const std::string> labels,
                                    Index reached, std::size_t most);

/// The tokens to underline: those that a view named in this frame or the last, else the strongest writes up
/// to the cursor.
const std::vector<Index>& underlined_words(const Session& session);

}  // namespace palimpsest
