#include "app/session/state.h"

#include <utility>

namespace palimpsest {

Choice SessionState::choice() const { return {{sides.front()}, head, edits, prove.fault}; }

void SessionState::set_choice(Choice choice) {
  head = choice.head;
  edits = std::move(choice.edits);
  prove.fault.id = std::move(choice.fault.id);
  if (!prove.fault.id.empty()) prove.fault.form = choice.fault.form;
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
  moved.prove = y.prove;
  moved.prove.fault = x.prove.fault;
  moved.measure = y.measure;
  moved.measure.wish = x.measure.wish;
  moved.measure.reports = x.measure.reports;
  moved.measure.away = x.measure.away;
  return moved == y;
}

}  // namespace palimpsest
