#pragma once

#include <span>

#include "app/widgets/heat_map.h"

namespace palimpsest {

/// Whether two numbers differ by rounding only, so that a scale between them would show nothing else; also
/// true if one is not finite.
bool is_flat(double from, double to);

/// Round numbers between two, at most about `count`; none where is_flat().
std::vector<double> round_numbers(double from, double to, int count);

/// The least of 1, 2, 5 times a power of ten that is not below `range`; 1 if `range` is not a finite number >
/// 0.
double round_above(double range);

/// A number beside an axis, with as many digits as the distance to its neighbour needs.
std::string axis_number(double value, double distance);

/// A rectangle in the current window, filled or as a line of `width` screen pixels.
void fill(const Rectangle& where, ImU32 colour, float rounding = 0);
void outline(const Rectangle& where, ImU32 colour, float rounding = 0, float width = 1);

/// A dashed outline; `dash` as in dashed_curve().
void dashed_outline(ImDrawList* list, const Rectangle& where, ImU32 colour, float width, float dash);

/// Slanted lines in a rectangle of the current window that mark something as absent.
void hatch(const Rectangle& where, ImU32 colour);

void solid_curve(ImDrawList* list, std::span<const ImVec2> points, ImU32 colour, float width);

/// A dashed line through points, `dash` screen pixels long each; only the visible dashes are drawn.
void dashed_curve(ImDrawList* list, std::span<const ImVec2> points, ImU32 colour, float width, float dash);

/// A straight line with the usual dashes.
void dashed_line(ImDrawList* list, ImVec2 from, ImVec2 to, ImU32 colour, float width);

/// A straight line in dashes of `dash` screen pixels; 0: without gaps.
void straight_line(ImDrawList* list, std::span<const ImVec2, 2> ends, ImU32 colour, float width, float dash);

}  // namespace palimpsest
