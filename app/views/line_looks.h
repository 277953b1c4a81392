#pragma once

#include "app/views/view.h"

// The looks of lines, the same in every plot and workspace. Colour shows the rule, dash and lightness the
// form, the shape of points the precision; hollow points are from a GPU.

namespace palimpsest {

/// The colour of a rule, different from the hues of all symbols. A rule between two stops of the rail has the
/// colour of the upper one.
ImU32 rule_colour(std::string_view variant);

/// The look of a measured curve; thin if its report is not the primary one.
PlotLook curve_look(const RaceEntry& entry, bool leads);

/// The shape of the points of a precision.
PlotMarker precision_marker(Precision precision);

/// The look of a form's line over the tokens; the coarser the arithmetic, the fainter.
PlotLook proof_look(Form form, Arithmetic arithmetic);

}  // namespace palimpsest
