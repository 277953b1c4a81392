#pragma once

#include <string_view>

namespace palimpsest::style {

/// How high paragraph() writes `text` in the room of the present panel, in pixels.
float paragraph_height(std::string_view text);

/// The same of caption().
float caption_height(std::string_view text);

}  // namespace palimpsest::style
