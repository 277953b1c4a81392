#include "app/session/sight.h"

#include <utility>

#include "app/session/step_questions.h"
#include "core/proof/fault_edits.h"

namespace palimpsest {

namespace {

bool is_same_block(const Sight& x, const Sight& y) {
  return x.trace == y.trace && x.cursor.block == y.cursor.block;
}

}  // namespace

bool is_faulty(const Sight& sight) {
  return sight.computation && sight.computation->edited && sight.trace == sight.computation->edited;
}

void Lookout::look(const Sight& wanted, Questions& questions) {
  const bool has_steps = wanted.trace && wanted.trace->block_count() > 0;
  if (!has_steps) return see(wanted, {});
  if (seen_.record && is_same_block(seen_, wanted)) {
    Known<Record> same;
    same.value = seen_.record;
    return see(wanted, same);
  }
  while (true) {
    if (!next_ || is_same_block(*next_, wanted) || awaited_.seconds > nearly_there) next_ = wanted;
    const bool is_wanted = is_same_block(*next_, wanted);
    awaited_ = questions.ask(BlockRecord{next_->trace, next_->cursor.block});
    is_stale_ = awaited_.under_way;
    if (is_stale_) return;
    const Known<Record> known = awaited_;
    const Sight reached = *next_;
    next_.reset();
    if (known.value || is_wanted) see(reached, known);
    if (is_wanted) return;
  }
}

void Lookout::wait(Questions& questions) const {
  if (next_) questions.wait_for(BlockRecord{next_->trace, next_->cursor.block});
}

void Lookout::give_up(Questions& questions) {
  if (next_) questions.give_up(BlockRecord{next_->trace, next_->cursor.block});
}

void Lookout::see(const Sight& place, const Known<Record>& known) {
  seen_ = place;
  seen_.record = known.value;
  awaited_ = known;
  next_.reset();
  is_stale_ = false;
}

}  // namespace palimpsest
