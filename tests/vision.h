#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/colour_map.h"

// How different colours look, to the colour blind too.

namespace palimpsest::testing {

using Triple = std::array<double, 3>;

/// What a person sees: of linear sRGB.
using Vision = std::array<Triple, 3>;
inline constexpr Vision trichromacy = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
/// Without one kind of cones: Machado, Oliveira and Fernandes (2009), severity 1.
inline constexpr Vision deuteranopia = {
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};
inline constexpr Vision protanopia = {
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};

/// CIE L*a*b* (D65) of a colour as it is seen.
inline Triple as_seen(Rgb8 colour, const Vision& vision = trichromacy) {
  const auto linear = [](std::uint8_t byte) {
    const double s = byte / 255.0;
    return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
  };
  const Triple given = {linear(colour.red), linear(colour.green), linear(colour.blue)};
  Triple rgb = {};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) rgb[i] += vision[i][j] * given[j];
    rgb[i] = std::clamp(rgb[i], 0.0, 1.0);
  }
  const auto f = [](double t) { return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116; };
  const double x = f((0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.9505);
  const double y = f(0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]);
  const double z = f((0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.089);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

/// 2.3 is the smallest difference that people notice.
inline double distance(const Triple& a, const Triple& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

}  // namespace palimpsest::testing
