#include "app/session/shared_reference.h"

namespace palimpsest {

ReferenceRun& SharedReference::run(const std::stop_token& stop) const {
  if (!run_) run_.emplace(*variant_, inputs_, precision_, stop);
  is_known_ = true;
  return *run_;
}

const Output& SharedReference::expected(const std::stop_token& stop) const {
  if (is_known_) return run_->expected();
  const std::scoped_lock lock(mutex_);
  return run(stop).expected();
}

}  // namespace palimpsest
