#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace palimpsest {

/// Text that wraps at the panel's edge, in the current font. A word that is one of `links`, whatever marks
/// stand around it, is underlined and can be pressed; returns the one that was. Its identity is the word.
std::optional<std::string> linked_text(std::string_view text, std::span<const std::string> links);

}  // namespace palimpsest
