#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "core/proof/reference_run.h"

namespace palimpsest {

/// What the f64 recurrence makes of one head: run by the first who asks, in its thread, so that nothing waits
/// for it that does not need it. Many threads may ask at once.
class SharedReference {
 public:
  SharedReference(const Variant& variant, HeldInputs inputs, Precision precision)
      : variant_(&variant), inputs_(std::move(inputs)), precision_(precision) {}

  /// What it makes. Throws what the recurrence throws.
  const Output& expected(const std::stop_token& stop = {}) const;

  /// The same; null until somebody has asked.
  const Output* known() const { return is_known_ ? &run_->expected() : nullptr; }

  /// Calls `use(ReferenceRun&)` while nobody else does: it remembers how numbers amplify.
  template <class Use>
  auto alone(const std::stop_token& stop, Use use) const {
    const std::scoped_lock lock(mutex_);
    return use(run(stop));
  }

 private:
  ReferenceRun& run(const std::stop_token& stop) const;

  const Variant* variant_;
  HeldInputs inputs_;
  Precision precision_;
  mutable std::mutex mutex_;  // of run_; what it expects never changes
  mutable std::optional<ReferenceRun> run_;
  mutable std::atomic<bool> is_known_ = false;
};

}  // namespace palimpsest
