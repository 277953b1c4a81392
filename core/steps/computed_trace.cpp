#include "core/steps/computed_trace.h"

#include <algorithm>

#include "core/base/error.h"

namespace palimpsest {

const Record& ComputedTrace::record(Index index) {
  auto found = std::ranges::find(kept_, index, &Kept::block);
  if (found == kept_.end()) {
    --found;
    found->block = -1;
    found->record = compute(index);
    found->block = index;
  }
  std::rotate(kept_.begin(), found, found + 1);
  return kept_.front().record;
}

void ComputedTrace::prepare(std::stop_token stop) {
  stop_ = stop;
  try {
    prepare_states();
    Trace::prepare(stop);
  } catch (const Cancelled&) {
  }
  stop_ = {};
}

}  // namespace palimpsest
