#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>

#include "core/contract/output.h"
#include "core/proof/fault_edits.h"
#include "core/steps/computed_trace.h"
#include "core/steps/interpreted.h"

namespace palimpsest {

/// The steps of a form with other equations in them: blocks, tokens and what comes in are those of the right
/// trace, everything else is carried out by the equations alone (core/steps/interpreted.h), in f64. A record
/// throws StepError where an equation cannot be carried out.
class EditedTrace final : public ComputedTrace {
 public:
  /// `equations` have as many phases as `right`.
  EditedTrace(std::shared_ptr<const Trace> right, Equations equations);

  const Trace& right() const { return *right_; }

  /// What the whole form gives. Throws StepError, and Cancelled when asked to stop.
  Output run(std::stop_token stop = {}) const;

  Index block_count() const override { return right_->block_count(); }
  Block block(Index index) const override { return right_->block(index); }
  Index block_of(Index token, Index phase) const override { return right_->block_of(token, phase); }
  NamedStates states(const Record& latest) const override { return right_->states(latest); }

 private:
  Record compute(Index index) const override;

  std::shared_ptr<const Trace> right_;
  Index spacing_;                                    // of the places that are kept, in blocks
  mutable std::map<Index, BlockInterpreter> kept_;   // by the block that comes next
  mutable std::optional<BlockInterpreter> running_;  // where the last record was made
};

}  // namespace palimpsest
