#pragma once

#include "app/session/computation.h"
#include "app/views/view.h"

// How sentences name the tokens of a text.

namespace palimpsest {

/// drum
inline std::string word_at(const Computation& computed, Index token) {
  return visible_label(computed.data->labels[static_cast<std::size_t>(token)]);
}

/// “drum”
inline std::string quoted_word(const Computation& computed, Index token) {
  return fmt::format("“{}”", word_at(computed, token));
}

/// 42 “drum”
inline std::string number_and_word(const Computation& computed, Index token) {
  return fmt::format("{} {}", token, quoted_word(computed, token));
}

/// “drum” (42)
inline std::string quoted_and_numbered(const Computation& computed, Index token) {
  return fmt::format("{} ({})", quoted_word(computed, token), token);
}

/// token 42 “drum”; only its number where the text has no such token.
inline std::string numbered_word(const Computation& computed, Index token) {
  const bool has_word = token >= 0 && token < std::ssize(computed.data->labels);
  return "token " + (has_word ? number_and_word(computed, token) : std::to_string(token));
}

}  // namespace palimpsest
