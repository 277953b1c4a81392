#pragma once

#include <array>
#include <cstdint>

namespace palimpsest {

/// A colour in sRGB bytes.
struct Rgb8 {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  friend bool operator==(const Rgb8&, const Rgb8&) = default;
};

/// A diverging colour map: zero has the background colour; each side has three stops, at 1/3, 2/3 and all of
/// the range, interpolated linearly in sRGB bytes. Lightness alone carries the magnitude.
struct ColourMap {
  Rgb8 zero;
  std::array<Rgb8, 3> negative;  // the last one stands for -range and everything below, -inf too
  std::array<Rgb8, 3> positive;
  Rgb8 nan;  // no number at all

  friend bool operator==(const ColourMap&, const ColourMap&) = default;
};

/// The colour maps of the two themes.
extern const ColourMap dark_colour_map;
extern const ColourMap light_colour_map;

/// The map is drawn in this many steps to each side of zero, so that a table with one entry per step gives
/// exactly the same colours on the graphics card.
inline constexpr int colour_steps = 511;

inline constexpr int nan_step = colour_steps + 1;

/// A smaller range than this (also a negative one and NaN) counts as no range: every number is at step 0.
inline constexpr float smallest_range = 1e-30F;

/// What a value is multiplied by to count half steps: in float32, 2 * colour_steps / range, or 0 when there
/// is no range.
float half_steps_per_unit(float range);

/// The step of `value` in [-colour_steps, colour_steps], or nan_step. The magnitude in whole half steps,
/// floor(min(|value| * half_steps_per_unit(range), 2 * colour_steps)), is rounded to steps, half up. One
/// multiplication is the only rounding in float32, so a shader that does the same gets the same step.
int colour_step(float value, float range);

/// The colour of a step in [-colour_steps, nan_step].
Rgb8 colour_of_step(const ColourMap& map, int step);

/// The colour of `value` where `range` is the magnitude with the strongest colour. Infinite values look like
/// all values beyond the range; only NaN has a colour of its own.
Rgb8 colour(const ColourMap& map, float value, float range);

/// `map` with every colour blended towards that of zero: strength 1 keeps it, 0 gives the background alone.
ColourMap faded(const ColourMap& map, float strength);

}  // namespace palimpsest
