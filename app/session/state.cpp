#include "app/session/state.h"

#include <utility>

namespace palimpsest {

Choice SessionState::choice() const { return {{sides.front()}, head, edits}; }

void SessionState::set_choice(Choice choice) {
  head = choice.head;
  edits = std::move(choice.edits);
  sides.front() = static_cast<Side&&>(choice);
}

bool same_but_place(const SessionState& x, const SessionState& y) {
  SessionState moved = x;
  moved.place = y.place;
  moved.repeated = y.repeated;
  moved.workspace = y.workspace;
  moved.view = y.view;
  moved.attention = y.attention;
  moved.compare.handle = y.compare.handle;
  moved.compare.before = y.compare.before;
  return moved == y;
}

}  // namespace palimpsest
