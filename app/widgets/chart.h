#pragma once

#include <span>

#include "app/widgets/heat_map.h"

namespace palimpsest {

/// Whether the numbers between two differ by rounding only, so that a scale would show nothing else; so too
/// where a side is no number.
bool is_flat(double from, double to);

/// Round numbers between two, at most about `count`; none where is_flat().
std::vector<double> round_numbers(double from, double to, int count);

/// The next of 1, 2, 5, 10, ... times a power of ten that is not below `range`; 1 where that is no scale.
double round_above(double range);

/// A number beside an axis, with as many digits as the distance to its neighbour needs.
std::string axis_number(double value, double distance);

/// Lines that rise to the right, over what is not there.
void hatch(ImDrawList* list, const Rectangle& where, ImU32 colour);

/// A line through points.
void solid_curve(ImDrawList* list, std::span<const ImVec2> points, ImU32 colour, float width);

/// A line through points in dashes of a length (pixels) along it, made only where they are seen.
void dashed_curve(ImDrawList* list, std::span<const ImVec2> points, ImU32 colour, float width, float dash);

/// A straight one, in the usual dashes.
void dashed_line(ImDrawList* list, ImVec2 from, ImVec2 to, ImU32 colour, float width);

}  // namespace palimpsest
