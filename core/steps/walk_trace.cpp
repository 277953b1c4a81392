#include "core/steps/walk_trace.h"

#include "core/base/stop.h"
#include "core/operator/checkpoints.h"
#include "core/steps/computed_trace.h"

namespace palimpsest {

namespace {

template <class Scalar>
class WalkTrace : public ComputedTrace {
 public:
  WalkTrace(std::unique_ptr<const Walk<Scalar>> walk, Steps steps, Index chunk_size, std::size_t budget)
      : walk_(std::move(walk)), checkpoints_(walk_->initial(), walk_->block_count(), budget) {
    form = walk_->form();
    tokens = walk_->sequence().tokens;
    groups = groups_of(form, tokens, chunk_size, inner_batch(walk_->sequence().settings));
    phases = std::move(steps.phases);
    symbols = std::move(steps.symbols);
  }

  Index block_count() const override { return walk_->block_count(); }
  Block block(Index index) const override { return walk_->block(index); }
  Index block_of(Index token, Index phase) const override { return walk_->block_of(token, phase); }

  NamedStates states(const Record& latest) const override {
    NamedStates states = walk_->states(checkpoints_.initial());
    for (auto& [name, value] : states) value = latest.at(after(name));
    return states;
  }

 private:
  Record compute(Index index) const override {
    Carried<Scalar> carried = before(index);
    Record record;
    Recorder recorder(record);
    const Matrix<Scalar> o = walk_->advance(index, carried, &recorder, stop());
    if (o.rows() > 0) recorder.rows("o", form == Form::recurrent, o);
    if (form == Form::parallel) output_ = {o.template cast<double>(), walk_->states(carried)};
    return record;
  }

  void prepare_states() const override {
    for (Index kept = 0; kept < block_count() && !stop().stop_requested(); kept += checkpoints_.spacing()) {
      before(kept);
    }
  }

  Carried<Scalar> before(Index block_index) const {
    return checkpoints_.before(block_index, [&](Index index, Carried<Scalar>& carried) {
      stop_if_asked(stop());
      walk_->advance(index, carried, nullptr, stop());
    });
  }

  std::unique_ptr<const Walk<Scalar>> walk_;
  mutable Checkpoints<Scalar, Carried<Scalar>> checkpoints_;
};

}  // namespace

template <class Scalar>
std::unique_ptr<Trace> make_walk_trace(std::unique_ptr<const Walk<Scalar>> walk, Steps steps,
                                       Index chunk_size, std::size_t budget) {
  return std::make_unique<WalkTrace<Scalar>>(std::move(walk), std::move(steps), chunk_size, budget);
}

template std::unique_ptr<Trace> make_walk_trace(std::unique_ptr<const Walk<double>>, Steps, Index,
                                                std::size_t);
template std::unique_ptr<Trace> make_walk_trace(std::unique_ptr<const Walk<float>>, Steps, Index,
                                                std::size_t);

}  // namespace palimpsest
