#include "app/words/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace palimpsest {

namespace {

/// What stands in for a character that is not visible by itself.
constexpr std::pair<char, std::string_view> stand_ins[] = {{' ', "␣"}, {'\n', "⏎"}, {'\t', "⇥"}, {'\r', "␍"}};

}  // namespace

std::string scientific(double value) { return plain_number(value, 2); }

std::string visible_label(std::string_view label) {
  const std::size_t first = label.find_first_not_of(' ');
  if (first != std::string_view::npos) label.remove_prefix(first);
  std::string visible;
  for (const char character : label) {
    const auto shown = std::ranges::find(stand_ins, character, &std::pair<char, std::string_view>::first);
    const bool stays = shown == std::end(stand_ins) || (character == ' ' && first != std::string_view::npos);
    visible += stays ? std::string_view(&character, 1) : shown->second;
  }
  return visible;
}

}  // namespace palimpsest
