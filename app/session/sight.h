#pragma once

#include <memory>
#include <optional>

#include "app/session/computation.h"
#include "app/session/questions.h"

namespace palimpsest {

/// What there is to see of a step: all of it belongs together, whatever is chosen meanwhile.
struct Sight {
  std::shared_ptr<const Computation> computation;  // null: nothing is open
  std::shared_ptr<const Trace> trace;              // null: there is no such form
  Cursor cursor;
  std::shared_ptr<const Record> record = {};  // of the block at the cursor; null: there is nothing to see yet

  bool operator==(const Sight&) const = default;
};

/// Whether the numbers of a place are of a run with a fault in it.
bool is_faulty(const Sight& sight);

/// Seconds: what has taken longer gives way to what is wanted now.
inline constexpr double nearly_there = 0.1;

/// Looks at the place that is wanted as soon as its record is computed, and until then at the last one. A
/// record that is nearly there is waited for although another is wanted by now: a cursor that runs is seen to
/// run.
class Lookout {
 public:
  /// Asks for the place that is wanted. One without a form or without steps is seen at once.
  void look(const Sight& wanted, Questions& questions);

  /// Waits for the record that was asked for last.
  void wait(Questions& questions) const;

  /// Ends the computing of the record that is waited for.
  void give_up(Questions& questions);

  /// What is to be seen now.
  const Sight& seen() const { return seen_; }

  /// Whether another place is wanted than is seen.
  bool is_stale() const { return is_stale_; }

  /// What the record has come to that was asked for last: how long it takes, or why there is none.
  const Known<Record>& awaited() const { return awaited_; }

 private:
  void see(const Sight& place, const Known<Record>& known);

  Sight seen_;
  std::optional<Sight> next_;  // the place whose record is waited for
  bool is_stale_ = false;
  Known<Record> awaited_;
};

}  // namespace palimpsest
