#pragma once

#include "app/views/view.h"

namespace palimpsest {

/// Opens the card on which arrays of a file are taken for inputs.
void choose_names(Application& application, const std::string& id);

/// What a file leaves open, each with its answer as a link.
Nodes doubt_rows(Application& application, const std::vector<Doubt>& doubts);

/// What can be done about a file that cannot be opened, as links; none while that is not known.
Nodes ways_out(Application& application, const std::string& id);

}  // namespace palimpsest
