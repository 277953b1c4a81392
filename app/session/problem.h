#pragma once

#include <string>

namespace palimpsest {

/// What the exception that is being handled tells a person. Call it in a catch block.
std::string problem_in_words();

}  // namespace palimpsest
