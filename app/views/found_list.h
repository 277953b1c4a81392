#pragma once

#include "app/views/view.h"

namespace palimpsest {

/// A long list with a filter above it: the arrow keys go through the rows that match, Enter takes the chosen
/// one.
struct FoundList {
  FilterBox filter = {};
  std::string at = {};  // the id of the row that Enter takes
  int moves = 0;        // how often a row was scrolled into view
  bool has_rows = false;

  /// Goes to a row and scrolls it into view.
  void go_to(std::string id) {
    at = std::move(id);
    ++moves;
  }

  /// Follows what was typed and pressed. Typing chooses the first of the rows `left`, or keeps the chosen row
  /// if `keeps`.
  void follow(const std::vector<std::string>& left, bool keeps) {
    const int moved = std::exchange(filter.moved, 0);
    const bool is_typed = std::exchange(filter.changed, false);
    has_rows = !left.empty();
    if (!has_rows) return;
    const auto present = std::ranges::find(left, at);
    const bool is_left = present != left.end();
    if (!is_left || (is_typed && !keeps)) return go_to(left.front());
    if (moved == 0) return;
    const auto last = std::ssize(left) - 1;
    const auto next = std::clamp<std::ptrdiff_t>(present - left.begin() + moved, 0, last);
    go_to(entry(left, next));
  }

  /// The filter. Enter calls `enter` with the chosen row.
  Node field(const char* hint, std::function<void(const std::string& id)> enter,
             bool keeps_keyboard = false) {
    const auto entered = [this, enter = std::move(enter)] {
      if (has_rows) enter(at);
    };
    return Node{scene::Filter{&filter, hint, entered, keeps_keyboard}}.named("typed");
  }

  /// One of the rows: the chosen one has a background.
  Node row(const std::string& id, Node content, std::function<void()> press) const {
    const bool is_chosen = id == at;
    return scene::framed(std::move(content), Gap::near, Gap::near, 0,
                         is_chosen ? style::colours().lit_ground() : 0)
        .named(id)
        .revealed_for(is_chosen ? fmt::format("{} {}", id, moves) : std::string())
        .on(std::move(press));
  }
};

}  // namespace palimpsest
