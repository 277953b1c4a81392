#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/gl/context_local.h"
#include "app/scene/window.h"
#include "app/studio/application.h"
#include "app/widgets/text.h"
#include "core/base/text.h"
#include "core/variants/variants.h"

// What every view begins with: the program whose state it shows, the nodes of a scene that it shows it with,
// and the words for them.

namespace palimpsest {

using scene::Fit;
using scene::Gap;
using scene::Mark;
using scene::Node;
using scene::Nodes;

/// Why a workspace has nothing to show; empty: it has. `without_tokens` ends what is said of a sequence that
/// has none: ", so nobody reads".
std::string nothing_to_show(const Application& application, const char* without_tokens);

}  // namespace palimpsest
