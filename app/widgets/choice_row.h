#pragma once

#include <string_view>

namespace palimpsest {

/// A line of a list to choose from: a name, with a sentence below it that wraps; true when pressed. `name` is
/// its identity.
bool choice_row(const char* name, std::string_view words, bool selected, float width);

}  // namespace palimpsest
