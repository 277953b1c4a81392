#pragma once

#include "app/views/view.h"

// How lines look, by what they are of: the same thing the same in every plot.

namespace palimpsest {

/// The colour of a form, where lines are told apart by it.
ImU32 form_colour(Form form);

/// The colour of what stands at `place` among several that are compared: rules, or sides.
ImU32 compared_colour(std::size_t place);

/// The look of a measured curve. Its colour is that of its rule, in the order of `variants`, or of its form
/// where there is one rule; softmax has its own. A GPU's is dashed, the shape of its points tells its
/// precision; where it does not lead it is thin.
PlotLook curve_look(const RaceEntry& entry, const std::vector<std::string>& variants, bool leads);

/// The shape of the points of a precision.
PlotMarker precision_marker(Precision precision);

/// The look of a form's line word by word, in an arithmetic: the coarser that, the shorter its dashes.
PlotLook proof_look(Form form, Arithmetic arithmetic);

}  // namespace palimpsest
