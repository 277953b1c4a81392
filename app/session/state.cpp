#include "app/session/state.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

namespace palimpsest {

bool operator<(const Choice& x, const Choice& y) {
  const auto all = [](const Choice& each) {
    return std::tie(each.variant, each.form, each.device, each.precision, each.chunk_size, each.settings,
                    each.sliders, each.head, each.edits, each.fault);
  };
  return all(x) < all(y);
}

Choice SessionState::choice() const { return {{sides.front()}, head, edits, prove.fault}; }

void SessionState::set_choice(Choice choice) {
  head = choice.head;
  edits = std::move(choice.edits);
  prove.fault.id = std::move(choice.fault.id);
  if (!prove.fault.id.empty()) prove.fault.form = choice.fault.form;
  sides.front() = static_cast<Side&&>(choice);
}

bool same_but_place(const SessionState& x, const SessionState& y) {
  bool is_same = true;
  const auto compare = [&](const FieldTraits& traits, const auto& of_x, const auto& of_y) {
    is_same = is_same && (traits.held != Held::work || of_x == of_y);
  };
  for_each_leaf(compare, {}, x, y);
  return is_same;
}

SessionState with_looks_of(SessionState entry, const SessionState& present) {
  const auto keep = [](const FieldTraits& traits, auto& of_entry, const auto& of_present) {
    if (traits.held == Held::looks) of_entry = of_present;
  };
  for_each_leaf(keep, {}, entry, present);
  return entry;
}

SessionState with_changes(SessionState state, const SessionState& from, const SessionState& to) {
  const auto take = [](const FieldTraits& traits, auto& field, const auto& before, const auto& now) {
    if (!traits.of_text && now != before) field = now;
  };
  const auto others = [](const SessionState& of) { return std::span(of.sides).subspan(1); };
  std::vector<Side> sides = {state.sides.front()};
  for_each_leaf(take, {}, sides.front(), from.sides.front(), to.sides.front());
  const auto kept = std::ranges::equal(others(to), others(from)) ? others(state) : others(to);
  sides.insert(sides.end(), kept.begin(), kept.end());
  for_each_leaf(take, {}, state, from, to);
  state.sides = std::move(sides);
  return state;
}

}  // namespace palimpsest
