#pragma once

#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>

namespace palimpsest {

/// Removes the text up to and including the first `end` (or all) from `rest`; returns it without the `end`.
std::string_view take_until(std::string_view& rest, char end);

/// All of `text` parsed as one number; nothing if it is not a number or does not fit the type.
template <class Number>
std::optional<Number> parse_all(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

constexpr std::ptrdiff_t no_limit = std::numeric_limits<std::ptrdiff_t>::max();

/// All of `text` parsed as a whole number from `least` to `most`; throws InputError calling it `what`.
std::ptrdiff_t parse_count(std::string_view text, std::string_view what, std::ptrdiff_t least = 0,
                           std::ptrdiff_t most = no_limit);

}  // namespace palimpsest
