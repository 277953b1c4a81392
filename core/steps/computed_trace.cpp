#include "core/steps/computed_trace.h"

#include <algorithm>
#include <utility>

#include "core/base/stop.h"
#include "core/engines/walk.h"
#include "core/operator/blocks.h"

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

namespace {

template <class Scalar>
class WalkTrace : public ComputedTrace {
 public:
  WalkTrace(std::unique_ptr<const Walk<Scalar>> walk, Steps steps, Groups new_groups, std::size_t budget)
      : ComputedTrace(kept_records),
        walk_(std::move(walk)),
        last_start_(walk_->block_count() == 0 ? 0 : walk_->starts_at(walk_->block_count() - 1)),
        checkpoints_(walk_->initial(), last_start_ + 1, budget) {
    form = walk_->form();
    tokens = walk_->sequence().tokens;
    groups = new_groups;
    phases = std::move(steps.phases);
    symbols = std::move(steps.symbols);
  }

  Index block_count() const override { return walk_->block_count(); }
  Block block(Index index) const override { return walk_->block(index); }
  Index block_of(Index token, Index phase) const override { return walk_->block_of(token, phase); }

  NamedStates states(const Record& latest) const override {
    return walk_->recorded_states(latest, checkpoints_.initial());
  }

 private:
  /// Two passes are walked through side by side: a chunk's block of one and of the other.
  static constexpr std::size_t kept_records = 2;

  Record compute(Index index) const override {
    Carried<Scalar> carried = before(walk_->starts_at(index));
    Record record;
    Recorder recorder(record);
    const Matrix<Scalar> o = walk_->advance(index, carried, &recorder, stop());
    if (o.rows() > 0) recorder.rows("o", form == Form::recurrent, o);
    if (form == Form::parallel) output_ = {o.template cast<double>(), walk_->states(carried)};
    return record;
  }

  void prepare_states() const override {
    for (Index kept = 0; kept <= last_start_ && !stop().stop_requested(); kept += checkpoints_.spacing())
      before(kept);
  }

  Carried<Scalar> before(Index block_index) const {
    return checkpoints_.before(block_index, [&](Index index, Carried<Scalar>& carried) {
      stop_if_asked(stop());
      walk_->advance(index, carried, nullptr, stop());
    });
  }

  std::unique_ptr<const Walk<Scalar>> walk_;
  Index last_start_;
  mutable Checkpoints<Scalar, Carried<Scalar>> checkpoints_;
};

}  // namespace

template <class Scalar>
std::unique_ptr<Trace> make_walk_trace(std::unique_ptr<const Walk<Scalar>> walk, Steps steps, Groups groups,
                                       std::size_t budget) {
  return std::make_unique<WalkTrace<Scalar>>(std::move(walk), std::move(steps), groups, budget);
}

template std::unique_ptr<Trace> make_walk_trace(std::unique_ptr<const Walk<double>>, Steps, Groups,
                                                std::size_t);
template std::unique_ptr<Trace> make_walk_trace(std::unique_ptr<const Walk<float>>, Steps, Groups,
                                                std::size_t);

}  // namespace palimpsest
