#pragma once

#include "app/views/view.h"

// How lines look, by what they are of: the same thing the same in every plot and workspace. Colour is the
// rule, dash and lightness the form, the shape of points the precision; hollow points are a GPU's.

namespace palimpsest {

/// The colour of a rule, outside the hues of all symbols; between two stops of the rail that of the upper
/// one.
ImU32 rule_colour(std::string_view variant);

/// How long the dashes of a form's lines are; 0: drawn through.
float form_dash(Form form);

/// The look of a measured curve; where it does not lead it is thin.
PlotLook curve_look(const RaceEntry& entry, bool leads);

/// The shape of the points of a precision.
PlotMarker precision_marker(Precision precision);

/// The look of a form's line word by word, in an arithmetic: the coarser that, the fainter.
PlotLook proof_look(Form form, Arithmetic arithmetic);

}  // namespace palimpsest
