#include "core/base/colour_map.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace palimpsest {
namespace {

constexpr Rgb8 rgb(std::uint32_t hex) {
  return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8),
          static_cast<std::uint8_t>(hex)};
}

std::uint8_t mix(std::uint8_t from, std::uint8_t to, float part) {
  const float start = from;
  return static_cast<std::uint8_t>(std::lround(start + (static_cast<float>(to) - start) * part));
}

Rgb8 mix(Rgb8 from, Rgb8 to, float part) {
  return {mix(from.red, to.red, part), mix(from.green, to.green, part), mix(from.blue, to.blue, part)};
}

}  // namespace

constinit const ColourMap dark_colour_map = {.zero = rgb(0x1d2027),
                                             .negative = {rgb(0x20547c), rgb(0x56aae0), rgb(0xd6f0ff)},
                                             .positive = {rgb(0x8a3e1c), rgb(0xe8843e), rgb(0xffe8c4)},
                                             .nan = rgb(0xd04fe0)};

constinit const ColourMap light_colour_map = {.zero = rgb(0xfbf9f4),
                                              .negative = {rgb(0xa0c8e0), rgb(0x2c76ac), rgb(0x0c3056)},
                                              .positive = {rgb(0xf8c8a0), rgb(0xd06224), rgb(0x682408)},
                                              .nan = rgb(0xb41fc8)};

float half_steps_per_unit(float range) {
  return range >= smallest_range ? static_cast<float>(2 * colour_steps) / range : 0.0F;
}

int colour_step(float value, float range) {
  if (std::isnan(value)) return nan_step;
  const float scale = half_steps_per_unit(range);
  if (scale == 0) return 0;  // also where the range is infinite; inf times 0 would be NaN
  const float half_steps = std::min(std::fabs(value) * scale, static_cast<float>(2 * colour_steps));
  const int magnitude = (static_cast<int>(half_steps) + 1) / 2;
  return value < 0 ? -magnitude : magnitude;
}

Rgb8 colour_of_step(const ColourMap& map, int step) {
  if (step == nan_step) return map.nan;
  const std::array<Rgb8, 3>& stops = step < 0 ? map.negative : map.positive;
  const float position = static_cast<float>(std::abs(step)) * 3.0F / static_cast<float>(colour_steps);
  const int segment = std::min(static_cast<int>(position), 2);
  const Rgb8 from = segment == 0 ? map.zero : stops[static_cast<std::size_t>(segment - 1)];
  return mix(from, stops[static_cast<std::size_t>(segment)], position - static_cast<float>(segment));
}

Rgb8 colour(const ColourMap& map, float value, float range) {
  return colour_of_step(map, colour_step(value, range));
}

ColourMap faded(const ColourMap& map, float strength) {
  ColourMap result = map;
  for (auto* stops : {&result.negative, &result.positive}) {
    for (Rgb8& stop : *stops) stop = mix(map.zero, stop, strength);
  }
  result.nan = mix(map.zero, map.nan, strength);
  return result;
}

}  // namespace palimpsest
