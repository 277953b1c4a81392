#include "core/base/parse.h"

#include <algorithm>

#include "core/base/refuse.h"
#include "core/base/text.h"

namespace palimpsest {

std::string_view take_until(std::string_view& rest, char end) {
  const std::size_t at = std::min(rest.find(end), rest.size());
  const std::string_view taken = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return taken;
}

std::ptrdiff_t parse_count(std::string_view text, std::string_view what, std::ptrdiff_t least,
                           std::ptrdiff_t most) {
  const auto count = parse_all<std::ptrdiff_t>(text);
  if (!count || *count < least || *count > most)
    refuse("{} is \"{}\"; expected a whole number from {}{}", what, shown(text), least,
           most == no_limit ? " on" : fmt::format(" to {}", most));
  return *count;
}

}  // namespace palimpsest
