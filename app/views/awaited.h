#pragma once

#include "app/session/questions.h"
#include "app/views/view.h"

namespace palimpsest {

/// Where an answer is waited for since a moment that is noticed: `words`, how far it is, and a way out;
/// `stop` gives it up. Empty before that, or when it is there.
template <class Value>
Node awaiting(std::string_view words, const Known<Value>& answer, std::function<void()> stop) {
  constexpr double noticed_after = 0.3;  // seconds
  if (!answer.under_way || answer.seconds < noticed_after) return scene::column({});
  const std::string far =
      answer.progress > 0 ? fmt::format(" · {:.0f} %", 100 * answer.progress) : std::string();
  return scene::row(
      {scene::mark(Mark::Kind::spinner, scene::dim_ink),
       scene::line(fmt::format("{}{}", words, far), style::Text::caption, scene::dim_ink),
       scene::word_button("stop").on(std::move(stop)).told("Gives it up; what is seen stays.")});
}

}  // namespace palimpsest
