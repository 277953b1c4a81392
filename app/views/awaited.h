#pragma once

#include <string_view>

#include "app/session/questions.h"

namespace palimpsest {

/// Where an answer is waited for since a moment that is noticed: `words`, how far it is, and a way out.
/// Nothing before that, or when it is there. Returns whether "stop" was pressed.
bool awaited(std::string_view words, bool under_way, double seconds, double progress);

template <class Value>
bool awaited(std::string_view words, const Known<Value>& answer) {
  return awaited(words, answer.under_way, answer.seconds, answer.progress);
}

}  // namespace palimpsest
