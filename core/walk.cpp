#include "core/walk.h"

#include <optional>

#include "core/checkpoints.h"

namespace palimpsest {

namespace {

template <class Scalar>
class WalkTrace : public Trace {
 public:
  WalkTrace(std::unique_ptr<const Walk<Scalar>> walk, Form new_form, Index new_tokens, std::size_t budget)
      : walk_(std::move(walk)), checkpoints_(walk_->initial(), walk_->block_count(), budget) {
    form = new_form;
    tokens = new_tokens;
  }

  Index block_count() const override { return walk_->block_count(); }
  Block block(Index index) const override { return walk_->block(index); }
  Index block_of(Index token, Index phase) const override { return walk_->block_of(token, phase); }

  const Record& record(Index index) override {
    if (index == recorded_) return record_;
    recorded_ = -1;
    Carried<Scalar> carried = before(index);
    Record record;
    Recorder recorder(record);
    const Matrix<Scalar> o = walk_->advance(index, carried, &recorder, stop_);
    if (form == Form::parallel) output_ = {o.template cast<double>(), walk_->states(carried)};
    record_ = std::move(record);
    recorded_ = index;
    return record_;
  }

  void prepare(std::stop_token stop) override {
    stop_ = stop;
    try {
      for (Index kept = 0; kept < block_count() && !stop.stop_requested(); kept += checkpoints_.spacing()) {
        before(kept);
      }
      Trace::prepare(stop);
    } catch (const Cancelled&) {
    }
    stop_ = {};
  }

  const Output* output() const override { return output_ ? &*output_ : nullptr; }

 private:
  Carried<Scalar> before(Index block_index) {
    return checkpoints_.before(block_index, [&](Index index, Carried<Scalar>& carried) {
      if (stop_.stop_requested()) throw Cancelled();
      walk_->advance(index, carried, nullptr, stop_);
    });
  }

  std::unique_ptr<const Walk<Scalar>> walk_;
  Checkpoints<Scalar, Carried<Scalar>> checkpoints_;
  std::stop_token stop_;  // of prepare()
  Record record_;
  Index recorded_ = -1;
  std::optional<Output> output_;
};

}  // namespace

template <class Scalar>
Output run(const Walk<Scalar>& walk, Index tokens, Index dv, const std::stop_token& stop) {
  Carried<Scalar> carried = walk.initial();
  Matrix<Scalar> o(tokens, dv);
  for (Index index = 0; index < walk.block_count(); ++index) {
    if (stop.stop_requested()) throw Cancelled();
    const Matrix<Scalar> outputs = walk.advance(index, carried, nullptr, stop);
    if (outputs.rows() > 0) o.middleRows(walk.block(index).first_token, outputs.rows()) = outputs;
  }
  return {o.template cast<double>(), walk.states(carried)};
}

void walk_states(const Walk<double>& walk, const Rule::VisitStates& visit, const std::stop_token& stop) {
  Carried<double> carried = walk.initial();
  if (!visit(0, walk.states(carried))) return;
  for (Index index = 0; index < walk.block_count(); ++index) {
    if (stop.stop_requested()) throw Cancelled();
    walk.advance(index, carried, nullptr, stop);
    const Block block = walk.block(index);
    const Index tokens = block.first_token + block.count;
    if (block.phase == 0 && !visit(tokens, walk.states_after(tokens, carried))) return;
  }
}

template <class Scalar>
std::unique_ptr<Trace> make_walk_trace(std::unique_ptr<const Walk<Scalar>> walk, Form form, Index tokens,
                                       std::vector<Phase> phases, Symbols symbols, std::size_t budget) {
  auto trace = std::make_unique<WalkTrace<Scalar>>(std::move(walk), form, tokens, budget);
  trace->phases = std::move(phases);
  trace->symbols = std::move(symbols);
  return trace;
}

#define PALIMPSEST_INSTANTIATE(Scalar)                                                              \
  template Output run(const Walk<Scalar>&, Index, Index, const std::stop_token&);                   \
  template std::unique_ptr<Trace> make_walk_trace(std::unique_ptr<const Walk<Scalar>>, Form, Index, \
                                                  std::vector<Phase>, Symbols, std::size_t);
PALIMPSEST_INSTANTIATE(double)
PALIMPSEST_INSTANTIATE(float)
#undef PALIMPSEST_INSTANTIATE

}  // namespace palimpsest
