#include "core/proof/edited_trace.h"

#include <cmath>
#include <utility>

namespace palimpsest {

EditedTrace::EditedTrace(std::shared_ptr<const Trace> right, Equations equations) : right_(std::move(right)) {
  form = right_->form;
  tokens = right_->tokens;
  groups = right_->groups;
  phases = std::move(equations.phases);
  symbols = std::move(equations.symbols);
  spacing_ = static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(right_->block_count()))));
}

Output EditedTrace::run(std::stop_token stop) const {
  return interpret(*right_, phases, {.stop = std::move(stop)});
}

Record EditedTrace::compute(Index index) const {
  const auto after = kept_.upper_bound(index);
  const bool goes_on = running_ && running_->next() <= index &&
                       (after == kept_.begin() || std::prev(after)->first <= running_->next());
  if (!goes_on) {
    if (after == kept_.begin())
      running_.emplace(*right_, phases);
    else
      running_ = std::prev(after)->second;
  }
  const Interpreting how{.stop = stop()};
  Record record;
  while (running_->next() <= index) {
    if (running_->next() % spacing_ == 0) kept_.try_emplace(running_->next(), *running_);
    record = running_->step(how);
  }
  return record;
}

}  // namespace palimpsest
