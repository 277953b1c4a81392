#include "core/row_trace.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/checkpoints.h"
#include "core/engines/chunkwise.h"
#include "core/engines/parallel.h"
#include "core/engines/recurrent.h"
#include "core/error.h"
#include "core/row_steps.h"

namespace palimpsest {

namespace {

Index block_size(Form form, Index tokens, Index chunk_size) {
  if (form == Form::recurrent) return 1;
  if (form == Form::parallel) return std::max<Index>(tokens, 1);
  return chunk_size;
}

template <class Scalar>
class RowTrace : public Trace {
 public:
  RowTrace(const RowRule& rule, const Sequence& sequence, Form new_form, Index chunk_size, std::size_t budget)
      : rule_(rule),
        sequence_(sequence),
        size_(block_size(new_form, sequence.tokens, chunk_size)),
        write_blocks_((sequence.tokens + size_ - 1) / size_),
        notation_(rule.notation(sequence.settings)),
        structure_(rule.encoder().encode<Scalar>(sequence, 0, 0).structure),
        checkpoints_(rule.initial_state<Scalar>(sequence), write_blocks_, budget) {
    form = new_form;
    tokens = sequence.tokens;
    scaled_ = sequence.parameter("scale") != 1;
    phases = row_phases(structure_, notation_, form, scaled_);
    symbols = row_symbols(structure_, notation_, form);
  }

  Index block_count() const override { return write_blocks_ * static_cast<Index>(phases.size()); }

  Block block(Index index) const override {
    const Index first = index % write_blocks_ * size_;
    return {index / write_blocks_, first, std::min(size_, tokens - first)};
  }

  Index block_of(Index token, Index phase) const override { return phase * write_blocks_ + token / size_; }

  const Record& record(Index index) override {
    if (index != recent_.block) std::swap(recent_, earlier_);
    if (index != recent_.block) {
      recent_.block = -1;
      recent_.record = compute(block(index));
      recent_.block = index;
    }
    return recent_.record;
  }

  void prepare(std::stop_token stop) override {
    const bool needs_states = form != Form::parallel || phases.size() > 1;
    for (Index kept = 0; needs_states && kept <= write_blocks_ && !stop.stop_requested();
         kept += checkpoints_.spacing()) {
      state_before(kept);
    }
    stop_ = stop;
    try {
      Trace::prepare(stop);
    } catch (const Cancelled&) {
    }
    stop_ = {};
  }

  const Output* output() const override { return output_ ? &*output_ : nullptr; }

 private:
  Matrix<Scalar> advance(const Program<Scalar>& program, Matrix<Scalar>& S, Recorder* recorder) const {
    if (form == Form::recurrent) return recurrent(program, S, recorder);
    if (form == Form::chunkwise) return chunk(program, S, recorder);
    return parallel(program, S, recorder, stop_);
  }

  Matrix<Scalar> state_before(Index block_index) {
    return checkpoints_.before(block_index, [&](Index index, Matrix<Scalar>& S) {
      const Block passed = block(index);
      advance(rule_.encoder().encode<Scalar>(sequence_, passed.first_token, passed.count), S, nullptr);
    });
  }

  Record compute(const Block& block) {
    Record record;
    Recorder recorder(record);
    const Program<Scalar> program = rule_.encoder().encode<Scalar>(sequence_, block.first_token, block.count);
    Matrix<Scalar> read;
    if (block.phase == 0) {
      Matrix<Scalar> S = state_before(block.first_token / size_);
      read = advance(program, S, &recorder);
      if (form == Form::parallel && structure_.read_at == ReadAt::after_row) {
        output_ = {rule_.finish<Scalar>(read, sequence_).template cast<double>(),
                   rule_.named_states<Scalar>(S)};
      }
    } else {
      const Matrix<Scalar> S = state_before(write_blocks_);
      recorder("S_final", S);
      read = program.q * S;
    }
    record_inputs(block, program, recorder);
    record_outputs(read, recorder);
    return record;
  }

  /// One token's row as a column, or the rows of a chunk as they are.
  Matrix<Scalar> oriented(const Matrix<Scalar>& rows) const {
    return form == Form::recurrent ? Matrix<Scalar>(rows.transpose()) : rows;
  }

  const ProgramNames& names() const { return form == Form::recurrent ? notation_.token : notation_.rows; }

  void record_inputs(const Block& block, const Program<Scalar>& program, Recorder& recorder) const {
    const std::pair<const char*, const char*> raw[] = {{"q", "Q"}, {"k", "K"}, {"v", "V"}};
    recorder(names().q, oriented(program.q));
    recorder(names().k, oriented(program.k));
    recorder(names().v, oriented(program.v));
    for (const auto& [token, rows] : raw) {
      recorder(form == Form::recurrent ? token : rows,
               oriented(sequence_.at(token).template rows<Scalar>(block.first_token, block.count)));
    }
    if (structure_.decay != Decay::none) recorder("alpha", oriented(program.alpha()));
    if (structure_.beta) recorder("beta", oriented(program.beta));
    if (scaled_) recorder("scale", sequence_.parameter("scale"));
    for (const std::string& parameter : notation_.parameters) {
      recorder(parameter, sequence_.parameter(parameter));
    }
  }

  void record_outputs(const Matrix<Scalar>& read, Recorder& recorder) const {
    if (read.rows() == 0 && structure_.read_at == ReadAt::end) return;
    recorder(names().o, oriented(read));
    const Matrix<Scalar> o = rule_.finish<Scalar>(read, sequence_);
    recorder(form == Form::recurrent ? "o" : "O", oriented(o));
  }

  const RowRule& rule_;
  Sequence sequence_;
  Index size_;
  Index write_blocks_;
  Notation notation_;
  Structure structure_;
  bool scaled_ = false;
  Checkpoints<Scalar> checkpoints_;
  std::stop_token stop_;  // of prepare()
  std::optional<Output> output_;

  /// The last two blocks that were asked for: a parallel form that reads at the end has two, and one walks
  /// between them.
  struct Recorded {
    Index block = -1;
    Record record = {};
  };
  Recorded recent_;
  Recorded earlier_;
};

}  // namespace

std::unique_ptr<Trace> make_row_trace(const RowRule& rule, const Sequence& sequence, Form form,
                                      Precision precision, Index chunk_size, std::size_t budget) {
  if (precision == Precision::f64) {
    return std::make_unique<RowTrace<double>>(rule, sequence, form, chunk_size, budget);
  }
  return std::make_unique<RowTrace<float>>(rule, sequence, form, chunk_size, budget);
}

}  // namespace palimpsest
