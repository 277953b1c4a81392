#pragma once

#include <string>
#include <vector>

#include "app/scene/floor.h"
#include "app/session/session.h"

// The rows that several floors have, how long their bars are and what they say.

namespace palimpsest {

/// How far a bar reaches for what a word keeps, in [0, 1]: the logarithm of the half-life, from a tenth of a
/// word to ten thousand words. A scale of the factor itself would show 0.9 and 0.999 alike.
float half_life_part(double kept);

/// "half-life 954 words", "keeps all", "keeps nothing".
std::string half_life_words(double kept);

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

/// The length of an error, from half its square.
double error_length(double loss);

/// The scales of the visible tokens; of very many, their sample.
struct VisibleScales {
  LengthScale errors;
  double written = 1;
};
VisibleScales visible_scales(const Computation& computed, Index begin, Index end);

/// What words keep, and how much they write: bars that lie under words. Appends the rows that the rule has.
void add_fact_rows(Floor& floor, const Computation& computed, const FloorColumns& columns);

/// How far the memory's answer is from a word's value before and after its write; nothing where nobody can
/// ask. `height` in design pixels, 0: what others leave.
void add_error_row(Floor& floor, const Computation& computed, const FloorColumns& columns, float height = 0);

/// “drum” (42)
std::string quoted_and_numbered(const Computation& computed, Index token);

/// “drum” (42), the length of its error before and after its write; nothing where it is not known.
std::string error_bar_words(const Computation& computed, Index token);

}  // namespace palimpsest
