#include "core/block_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/checkpoints.h"
#include "core/error.h"

namespace palimpsest {

namespace {

constexpr Index rows_at_a_time = 256;  // of the recurrent form: bounds the wait for a stop, changes no result
constexpr double run_limit = 6e9;      // bytes
constexpr double trace_limit = 1e9;    // bytes

/// Tokens per block, or the reason why so many at once are too many.
template <class Scalar>
Index block_size(const BlockEngine<Scalar>& engine, Form form, Index tokens, Index chunk_size,
                 Index recurrent, bool recorded) {
  require_chunk_size(chunk_size);
  if (form == Form::recurrent) return recurrent;
  const Index whole = std::max<Index>(tokens, 1);
  const Index size = form == Form::parallel ? whole : std::min(chunk_size, whole);
  const MemoryNeed need = engine.need(size, recorded);
  const double limit = recorded ? trace_limit : run_limit;
  if (need.bytes > limit) {
    throw Unsupported(fmt::format(
        "{} the {} form of {} tokens at once needs {:.1f} GB for {}; the limit is {:.0f} GB. {}",
        recorded ? "to show" : "to run", name(form), size, need.bytes / 1e9, need.what, limit / 1e9,
        form == Form::parallel ? "The chunkwise form has no such limit" : "Smaller chunks need less"));
  }
  return size;
}

template <class Scalar>
Output run_blocks(const BlockEngine<Scalar>& engine, const Sequence& sequence, Form form, Index chunk_size,
                  const std::stop_token& stop) {
  const Index size = block_size(engine, form, sequence.tokens, chunk_size, rows_at_a_time, false);
  Matrix<Scalar> state = engine.initial_state();
  Matrix<Scalar> o(sequence.tokens, sequence.dv);
  for (Index first = 0; first < sequence.tokens; first += size) {
    if (stop.stop_requested()) throw Cancelled();
    const Index count = std::min(size, sequence.tokens - first);
    o.middleRows(first, count) = engine.advance(form, first, count, state, nullptr, stop);
  }
  if (stop.stop_requested()) throw Cancelled();
  return {o.template cast<double>(), engine.named_states(state)};
}

template <class Scalar>
class BlockTrace : public Trace {
 public:
  BlockTrace(std::unique_ptr<BlockEngine<Scalar>> engine, const Sequence& sequence, Form new_form,
             Index chunk_size, std::size_t budget, Steps steps)
      : engine_(std::move(engine)),
        sequence_(sequence),
        size_(block_size(*engine_, new_form, sequence.tokens, chunk_size, 1, true)),
        blocks_((sequence.tokens + size_ - 1) / size_),
        checkpoints_(engine_->initial_state(), blocks_, budget) {
    form = new_form;
    tokens = sequence.tokens;
    phases = std::move(steps.phases);
    symbols = std::move(steps.symbols);
  }

  Index block_count() const override { return blocks_; }

  Block block(Index index) const override {
    const Index first = index * size_;
    return {0, first, std::min(size_, tokens - first)};
  }

  Index block_of(Index token, Index) const override { return token / size_; }

  const Record& record(Index index) override {
    if (index != recorded_) {
      recorded_ = -1;
      record_ = compute(index);
      recorded_ = index;
    }
    return record_;
  }

  void prepare(std::stop_token stop) override {
    stop_ = stop;
    try {
      for (Index kept = 0; kept < blocks_ && !stop.stop_requested(); kept += checkpoints_.spacing())
        state_before(kept);
      Trace::prepare(stop);
    } catch (const Cancelled&) {
    }
    stop_ = {};
  }

  const Output* output() const override { return output_ ? &*output_ : nullptr; }

 private:
  Matrix<Scalar> state_before(Index index) {
    return checkpoints_.before(index, [&](Index passed, Matrix<Scalar>& state) {
      const Block over = block(passed);
      engine_->advance(form, over.first_token, over.count, state, nullptr, stop_);
    });
  }

  Record compute(Index index) {
    Record record;
    Recorder recorder(record);
    const Block now = block(index);
    const bool by_token = form == Form::recurrent;
    const std::pair<const char*, const char*> inputs[] = {{"q", "Q"}, {"k", "K"}, {"v", "V"}};
    for (const auto& [token, rows] : inputs) {
      const Matrix<Scalar> given = sequence_.at(token).template rows<Scalar>(now.first_token, now.count);
      recorder(by_token ? token : rows, by_token ? Matrix<Scalar>(given.transpose()) : given);
    }
    if (sequence_.parameter("scale") != 1) recorder("scale", sequence_.parameter("scale"));

    Matrix<Scalar> state = state_before(index);
    const Matrix<Scalar> o = engine_->advance(form, now.first_token, now.count, state, &recorder, stop_);
    recorder(by_token ? "o" : "O", by_token ? Matrix<Scalar>(o.transpose()) : o);
    if (form == Form::parallel) output_ = {o.template cast<double>(), engine_->named_states(state)};
    return record;
  }

  std::unique_ptr<BlockEngine<Scalar>> engine_;
  Sequence sequence_;
  Index size_;
  Index blocks_;
  Checkpoints<Scalar> checkpoints_;
  Record record_;
  Index recorded_ = -1;
  std::stop_token stop_;  // of prepare()
  std::optional<Output> output_;
};

}  // namespace

Output BlockRule::run(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                      std::stop_token stop) const {
  return precision == Precision::f64 ? run_blocks(*engine_f64_(sequence), sequence, form, chunk_size, stop)
                                     : run_blocks(*engine_f32_(sequence), sequence, form, chunk_size, stop);
}

void BlockRule::walk_states(const Sequence& sequence, const VisitStates& visit, std::stop_token stop) const {
  const std::unique_ptr<BlockEngine<double>> engine = engine_f64_(sequence);
  Matrix<double> state = engine->initial_state();
  for (Index token = 0; visit(token, engine->named_states(state)) && token < sequence.tokens; ++token) {
    if (stop.stop_requested()) throw Cancelled();
    engine->advance(Form::recurrent, token, 1, state, nullptr, stop);
  }
}

std::unique_ptr<Trace> BlockRule::trace(const Sequence& sequence, Form form, Precision precision,
                                        Index chunk_size, std::size_t budget) const {
  Steps steps = steps_(sequence, form);
  if (precision == Precision::f64) {
    return std::make_unique<BlockTrace<double>>(engine_f64_(sequence), sequence, form, chunk_size, budget,
                                                std::move(steps));
  }
  return std::make_unique<BlockTrace<float>>(engine_f32_(sequence), sequence, form, chunk_size, budget,
                                             std::move(steps));
}

}  // namespace palimpsest
