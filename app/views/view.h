#pragma once

#include "app/gl/context_local.h"
#include "app/scene/window.h"
#include "app/studio/application.h"
#include "app/widgets/text.h"
#include "core/base/text.h"

// What every view includes: the application, the nodes of a scene, and shared texts.

namespace palimpsest {

using scene::Fit;
using scene::Gap;
using scene::Mark;
using scene::Node;
using scene::Nodes;

/// Why a workspace has nothing to show; empty if it has something. `without_tokens` ends the sentence about a
/// sequence without tokens: ", so nothing is read".
std::string nothing_to_show(const Application& application, const char* without_tokens);

/// What is known of a question, which stays wanted while it is asked in every frame.
template <Question Key>
Known<ValueOf<Key>> ask(Session& session, const Key& question, Urgency urgency = Urgency::now) {
  return session.questions().ask(question, urgency);
}
template <Question Key>
Known<ValueOf<Key>> ask(Application& application, const Key& question, Urgency urgency = Urgency::now) {
  return ask(application.session, question, urgency);
}

/// The answer to the present question; null: it is not known yet, if another one's stands for it or not.
template <class Value>
const Value* fresh(const Known<Value>& answer) {
  return answer.stale ? nullptr : answer.value.get();
}

/// Segments that set a field of the state to one of `values`.
template <class Part, class Field>
Node field_choice(Session& session, Part SessionState::*part, Field Part::*field,
                  const std::vector<std::pair<std::string, std::type_identity_t<Field>>>& values,
                  const std::string& tip = {}) {
  const auto is_set = [&](const auto& value) { return value.second == session.state().*part.*field; };
  return scene::segments(
      made_of(values, [](const auto& value) { return value.first; }),
      static_cast<std::size_t>(std::ranges::find_if(values, is_set) - values.begin()),
      [&session, part, field, values](std::size_t chosen) {
        session.change([&](SessionState& state) { state.*part.*field = values[chosen].second; });
      },
      tip);
}

/// The values of an enumeration with their names.
template <class Value>
std::vector<std::pair<std::string, Value>> named_values() {
  return made_of(all_of<Value>, [](Value value) { return std::pair(std::string(name(value)), value); });
}

/// If the answer to `asked` takes longer than `noticed_after`: `words`, the progress and a button to stop it.
/// Empty before that, and when the answer is there.
template <class Value, Question Key>
Node awaiting(std::string_view words, const Known<Value>& answer, Application& application,
              const Key& asked) {
  constexpr double noticed_after = 0.3;  // seconds
  if (!answer.under_way || answer.seconds < noticed_after) return scene::column({});
  const std::string far =
      answer.progress > 0 ? fmt::format(" · {:.0f} %", 100 * answer.progress) : std::string();
  return scene::row({scene::mark(Mark::Kind::spinner, scene::dim_ink),
                     scene::line(fmt::format("{}{}", words, far), style::Text::caption, scene::dim_ink),
                     scene::word_button("stop")
                         .on([&application, asked] { application.session.questions().give_up(asked); })
                         .told("Stops it; what is shown stays.")});
}

// How sentences name the tokens of a text.

/// drum
inline std::string word_at(const Computation& computed, Index token) {
  return visible_label(entry(computed.data->labels, token));
}

/// “drum”; "token 43" where the data have no labels
inline std::string quoted_word(const Computation& computed, Index token) {
  return quoted_label(word_at(computed, token), token);
}

/// token 43 “drum”; "token 43": sentences count from 1
inline std::string counted_token(const Computation& computed, Index token) {
  return "token " + numbered_label(word_at(computed, token), token);
}

/// “drum” (token 43); "token 43"
inline std::string quoted_and_numbered(const Computation& computed, Index token) {
  return quoted_and_numbered(word_at(computed, token), token);
}

}  // namespace palimpsest
