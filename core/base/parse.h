#pragma once

#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>

namespace palimpsest {

/// Takes what stands before the first `end`, or all, off the beginning of `rest`, and that `end` with it.
std::string_view take_until(std::string_view& rest, char end);

/// The number that all of `text` spells; nothing where it spells none, or one that does not fit.
template <class Number>
std::optional<Number> parse_all(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

constexpr std::ptrdiff_t no_limit = std::numeric_limits<std::ptrdiff_t>::max();

/// The whole number from `least` to `most` that all of `text` spells; throws InputError calling it `what`.
std::ptrdiff_t parse_count(std::string_view text, std::string_view what, std::ptrdiff_t least = 0,
                           std::ptrdiff_t most = no_limit);

}  // namespace palimpsest
