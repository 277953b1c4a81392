#include "app/session/history.h"

#include <algorithm>
#include <utility>

namespace palimpsest {

History::History(SessionState first, std::size_t most) : entries_{std::move(first)}, most_(most) {}

void History::change(SessionState next, std::string_view merge_key) {
  if (same_but_place(next, present())) return;
  erase(at_ + 1, entries_.size());
  const bool merges = !merge_key.empty() && merge_key == merge_key_ && at_ > 0;
  merge_key_ = merge_key;
  if (!merges) {
    entries_.push_back(std::move(next));
    ++at_;
  } else if (same_but_place(next, entries_[at_ - 1])) {  // dragged back to where it began
    erase(at_, at_ + 1);
    --at_;
    merge_key_.clear();
  } else {
    entries_[at_] = std::move(next);
  }
  forget_oldest();
}

void History::forget_oldest() {
  std::size_t held = 0;
  for (const SessionState& entry : entries_) held += entry.edits.size();
  while (at_ > 0 && (entries_.size() > most_ || held > most_edits_held)) {
    held -= entries_.front().edits.size();
    entries_.pop_front();
    --at_;
  }
}

const SessionState& History::undo() {
  end_merge();
  if (can_undo()) --at_;
  return present();
}

const SessionState& History::redo() {
  end_merge();
  if (can_redo()) ++at_;
  return present();
}

void History::fall_back(const SessionState& shown) {
  if (same_but_place(shown, present())) return;
  end_merge();
  for (std::size_t distance = 1; distance < entries_.size(); ++distance) {
    if (distance <= at_ && same_but_place(shown, entries_[at_ - distance])) {
      erase(at_ - distance + 1, at_ + 1);
      at_ -= distance;
      return;
    }
    if (at_ + distance < entries_.size() && same_but_place(shown, entries_[at_ + distance])) {
      erase(at_, at_ + distance);
      return;
    }
  }
  entries_[at_] = shown;
}

void History::erase(std::size_t first, std::size_t end) {
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(first),
                 entries_.begin() + static_cast<std::ptrdiff_t>(end));
}

}  // namespace palimpsest
