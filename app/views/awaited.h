#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "app/scene/node.h"
#include "app/session/questions.h"

namespace palimpsest {

/// Where an answer is waited for since a moment that is noticed: `words`, how far it is, and a way out.
/// Nothing before that, or when it is there. Returns whether "stop" was pressed.
bool awaited(std::string_view words, bool under_way, double seconds, double progress);

/// The same as a node; `stop` gives it up.
scene::Node awaiting(std::string_view words, bool under_way, double seconds, double progress,
                     std::function<void()> stop);

template <class Value>
scene::Node awaiting(std::string_view words, const Known<Value>& answer, std::function<void()> stop) {
  return awaiting(words, answer.under_way, answer.seconds, answer.progress, std::move(stop));
}

template <class Value>
bool awaited(std::string_view words, const Known<Value>& answer) {
  return awaited(words, answer.under_way, answer.seconds, answer.progress);
}

}  // namespace palimpsest
