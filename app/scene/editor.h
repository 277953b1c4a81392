#pragma once

#include <map>
#include <optional>

#include "app/scene/node.h"

namespace palimpsest::scene {

/// Draws the text of an editor in a rectangle of the current window and lets the user edit it. Returns the
/// text when a short pause follows a change; nothing otherwise.
std::optional<std::string> edit(const Editor& editor, const std::string& label, const Rectangle& where);

}  // namespace palimpsest::scene
