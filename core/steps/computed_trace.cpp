#include "core/steps/computed_trace.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace palimpsest {

std::shared_ptr<const Record> ComputedTrace::shared_record(Index index, std::stop_token stop) const {
  const std::scoped_lock lock(computing_);
  auto found = std::ranges::find(kept_, index, &Kept::block);
  if (found == kept_.end()) {
    --found;
    *found = {};
    stop_ = std::move(stop);
    found->record = std::make_shared<const Record>(compute(index));
    found->block = index;
  }
  std::rotate(kept_.begin(), found, found + 1);
  return kept_.front().record;
}

void ComputedTrace::prepare(std::stop_token stop) try {
  {
    const std::scoped_lock lock(computing_);
    stop_ = stop;
    prepare_states();
  }
  if (form == Form::parallel && block_count() > 0 && !stop.stop_requested()) shared_record(0, stop);
} catch (const Cancelled&) {
}

}  // namespace palimpsest
