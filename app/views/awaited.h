#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "app/scene/node.h"
#include "app/session/questions.h"

namespace palimpsest {

/// Where an answer is waited for since a moment that is noticed: `words`, how far it is, and a way out;
/// `stop` gives it up. Empty before that, or when it is there.
scene::Node awaiting(std::string_view words, bool under_way, double seconds, double progress,
                     std::function<void()> stop);

template <class Value>
scene::Node awaiting(std::string_view words, const Known<Value>& answer, std::function<void()> stop) {
  return awaiting(words, answer.under_way, answer.seconds, answer.progress, std::move(stop));
}

}  // namespace palimpsest
