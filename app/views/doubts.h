#pragma once

#include "app/views/view.h"

namespace palimpsest {

/// Opens the card that assigns the arrays of a file to inputs.
void choose_names(Application& application, const std::string& id);

/// One row for each doubt, with its resolution as a link.
Nodes doubt_rows(Application& application, const std::vector<Doubt>& doubts);

/// Links that may help to open a file that cannot be opened; empty if there are none.
Nodes ways_out(Application& application, const std::string& id);

}  // namespace palimpsest
