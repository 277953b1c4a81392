#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/matrix.h"

namespace palimpsest {

/// States by the names of Variant::states; vectors are [D, 1].
using NamedStates = std::vector<std::pair<std::string, Matrix<double>>>;

}  // namespace palimpsest
