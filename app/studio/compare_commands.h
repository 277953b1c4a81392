#pragma once

#include <vector>

#include "app/studio/command.h"

namespace palimpsest {

/// What one does with the sides of Compare.
void add_compare(std::vector<Command>& table);

}  // namespace palimpsest
