#pragma once

#include "app/views/view.h"

namespace palimpsest {

/// The numbers of one token of what is open, q, k, v and its gates, to be typed over. Why the number that was
/// typed last is not taken stands above them.
Node cell_table(Application& application);

}  // namespace palimpsest
