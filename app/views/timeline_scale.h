#pragma once

#include <string>
#include <vector>

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

}  // namespace palimpsest
