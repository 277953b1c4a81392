#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "app/session/state.h"

namespace palimpsest {

/// The states that somebody went through. Where and how one looks (place, workspace, view) is no change of
/// its own: each entry knows the place where it was last looked at.
class History {
 public:
  /// Of more entries the oldest are forgotten.
  static constexpr std::size_t most_entries = 2000;
  /// And of entries that hold more edits than this together: each holds all of its own.
  static constexpr std::size_t most_edits_held = 20000;

  explicit History(SessionState first = {}, std::size_t most = most_entries);

  const SessionState& present() const { return entries_[at_]; }

  /// Remembers where one looks now.
  void look_at(const Place& place) { entries_[at_].place = place; }

  /// A new entry after the present one; what was undone is forgotten. Nothing happens if only what one
  /// looks at differs. An entry with the same merge key as the one before takes its place, until end_merge();
  /// without a key none does.
  void change(SessionState next, std::string_view merge_key = {});

  /// The next change is an entry of its own: a drag is over.
  void end_merge() { merge_key_.clear(); }

  bool can_undo() const { return at_ > 0; }
  bool can_redo() const { return at_ + 1 < entries_.size(); }

  /// Goes back, or forth again, by one entry, where there is one; the state to go to.
  const SessionState& undo();
  const SessionState& redo();

  /// The present entry could not be had and `shown` is still there: goes to the nearest entry that is the
  /// same, forgetting those between.
  void fall_back(const SessionState& shown);

 private:
  void erase(std::size_t first, std::size_t end);
  void forget_oldest();

  std::deque<SessionState> entries_;
  std::size_t at_ = 0;
  std::size_t most_;
  std::string merge_key_;
};

}  // namespace palimpsest
