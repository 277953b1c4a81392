#pragma once

#include "app/views/view.h"

namespace palimpsest {

/// A long list, above which one types what its rows are to hold: the arrow keys go through those that are
/// left, Enter takes the one that they stand on.
struct FoundList {
  FilterBox filter = {};
  std::string at = {};  // the id of the row that Enter takes
  int moves = 0;        // how often that was brought into sight

  /// Goes to a row and brings it into sight.
  void go_to(std::string id);

  /// Follows what was typed and pressed, among the rows that are left. What is typed leads to the first of
  /// them, or leaves the choice where it is if it `keeps` it.
  void follow(const std::vector<std::string>& left, bool keeps);

  /// One of the rows: its content over a ground where it is the chosen one.
  Node row(const std::string& id, Node content, std::function<void()> press) const;
};

/// A name, with a sentence below it that wraps.
Node named_choice(const std::string& name, const std::string& words, bool chosen);

}  // namespace palimpsest
