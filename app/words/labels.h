#pragma once

#include <string>
#include <string_view>

// How numbers and tokens are written in every sentence.

namespace palimpsest {

/// "4.4e-16", as residuals are written; "0" only for an exact zero.
std::string scientific(double value);

/// A token's label as one line without the space before a word; white space alone is made visible: "␣", "⏎".
std::string visible_label(std::string_view label);

}  // namespace palimpsest
