#include "core/rules/row_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "core/base/error.h"
#include "core/engines/chunkwise.h"
#include "core/engines/engines.h"
#include "core/engines/parallel.h"
#include "core/engines/recurrent.h"
#include "core/operator/checkpoints.h"
#include "core/steps/computed_trace.h"
#include "core/steps/row_steps.h"

namespace palimpsest {

namespace {

Index block_size(Form form, Index tokens, Index chunk_size) {
  if (form == Form::recurrent) return 1;
  if (form == Form::parallel) return std::max<Index>(tokens, 1);
  return chunk_size;
}

template <class Scalar>
class RowTrace : public ComputedTrace {
 public:
  RowTrace(const RowRule& rule, const Sequence& sequence, Form new_form, Index chunk_size, std::size_t budget,
           const Engines<Scalar>& engines)
      : ComputedTrace(kept_records),
        rule_(rule),
        engines_(engines),
        sequence_(sequence),
        size_(block_size(new_form, sequence.tokens, chunk_size)),
        write_blocks_((sequence.tokens + size_ - 1) / size_),
        notation_(rule.notation(sequence.settings)),
        structure_(rule.structure(sequence)),
        batch_(inner_batch(sequence.settings)),
        checkpoints_(rule.initial_state<Scalar>(sequence), write_blocks_, budget) {
    form = new_form;
    tokens = sequence.tokens;
    const bool cuts_batches = form != Form::recurrent && form != Form::parallel && batch_ % size_ != 0;
    groups = groups_of(form, tokens, chunk_size, cuts_batches ? 1 : batch_);
    scaled_ = sequence.parameter("scale") != 1;
    if (form == Form::recurrent) steps_ = structure_.rows_per_read;
    phases = row_phases(structure_, notation_, form, scaled_);
    symbols = row_symbols(structure_, notation_, form);
  }

  Index block_count() const override {
    if (steps_ > 1) return write_blocks_ * steps_;
    return write_blocks_ * static_cast<Index>(phases.size());
  }

  Block block(Index index) const override {
    if (steps_ > 1) return {phase_of(index % steps_), index / steps_, 1};
    const Index first = index % write_blocks_ * size_;
    return {.phase = index / write_blocks_,
            .first_token = first,
            .count = std::min(size_, tokens - first),
            .starts_anew = first % batch_ == 0};
  }

  Index block_of(Index token, Index phase) const override {
    if (steps_ > 1) return token * steps_ + (phase == 0 ? 0 : steps_ - 1);
    return phase * write_blocks_ + token / size_;
  }

  /// The recurrent form makes the parts of a state one by one; what a rule hands on is in the first ones.
  NamedStates states(const Record& latest) const override {
    if (form != Form::recurrent || structure_.parts.empty())
      return rule_.named_states<double>(latest.at(after("S")), sequence_);
    Matrix<double> S = Matrix<double>::Zero(checkpoints_.initial().rows(), checkpoints_.initial().cols());
    const Index rows = S.rows() / structure_.part_count();
    for (Index i = 0; i < structure_.part_count(); ++i) {
      const std::string name = after(std::string(1, structure_.parts[static_cast<std::size_t>(i)]));
      if (latest.contains(name)) S.middleRows(i * rows, rows) = latest.at(name);
    }
    return rule_.named_states<double>(S, sequence_);
  }

 private:
  /// Two passes are walked through side by side: a chunk's block of one and of the other.
  static constexpr std::size_t kept_records = 2;

  /// Which of the two phases a step of a token is: the token reads in the first or in the last of them.
  Index phase_of(Index step) const {
    if (structure_.read_at == ReadAt::before_row) return step == 0 ? 0 : 1;
    return step == steps_ - 1 ? 1 : 0;
  }

  Record compute(Index index) const override {
    return steps_ > 1 ? compute_step(index / steps_, index % steps_) : compute_block(block(index));
  }

  void prepare_states() const override {
    for (Index kept = 0; form != Form::parallel && kept <= write_blocks_ && !stop().stop_requested();
         kept += checkpoints_.spacing()) {
      state_before(kept);
    }
  }

  /// Carries the state over the rows of a block. Returns what they read, or, in the first of two passes,
  /// write.
  Matrix<Scalar> advance(const Program<Scalar>& program, Matrix<Scalar>& S, Recorder* recorder) const {
    if (form == Form::recurrent) return engines_.recurrent(program, S, recorder);
    if (form == Form::chunkwise) return engines_.chunk(program, S, recorder);
    if (form == Form::two_pass) return engines_.chunk_state(program, S, recorder);
    return engines_.parallel(program, S, recorder, stop());
  }

  Matrix<Scalar> state_before(Index block_index) const {
    return checkpoints_.before(block_index, [&](Index index, Matrix<Scalar>& S) {
      const Index first = index * size_;
      advance(rule_.encode<Scalar>(sequence_, first, std::min(size_, tokens - first)), S, nullptr);
    });
  }

  /// One of several steps of a token.
  Record compute_step(Index token, Index step) const {
    Record record;
    Recorder recorder(record);
    const Program<Scalar> program = rule_.encode<Scalar>(sequence_, token, 1);
    Matrix<Scalar> S = state_before(token);
    for (Index earlier = 0; earlier < step; ++earlier) engines_.recurrent(program.row(earlier), S, nullptr);
    const Program<Scalar> row = program.row(step);
    const Matrix<Scalar> read = engines_.recurrent(row, S, &recorder);
    record_inputs({0, token, 1}, row, record);
    record_outputs(read, recorder);
    return record;
  }

  Record compute_block(const Block& block) const {
    Record record;
    Recorder recorder(record);
    const Program<Scalar> program = rule_.encode<Scalar>(sequence_, block.first_token, block.count);
    Matrix<Scalar> read;
    if (block.phase == 0) {
      Matrix<Scalar> S = state_before(block.first_token / size_);
      read = advance(program, S, &recorder);
      if (form == Form::two_pass) read = Matrix<Scalar>(0, program.v.cols());
      if (form == Form::parallel) {
        output_ = {rule_.finish<Scalar>(read, sequence_).template cast<double>(),
                   rule_.named_states<Scalar>(S, sequence_)};
      }
    } else if (structure_.reads_on_the_way()) {
      const Matrix<Scalar> S = state_before(block.first_token / size_);
      Matrix<Scalar> S_after = S;
      read = engines_.chunk_outputs(program, S, engines_.chunk_state(program, S_after, nullptr), &recorder);
    } else {
      const Matrix<Scalar> S = state_before(write_blocks_);
      recorder("S_final", S);
      read = engines_.read(program.q, S);
    }
    record_inputs(block, program, record);
    record_outputs(read, recorder);
    return record;
  }

  /// One token's row as a column, or the rows of a chunk as they are.
  Matrix<Scalar> oriented(const Matrix<Scalar>& rows) const {
    return form == Form::recurrent ? Matrix<Scalar>(rows.transpose()) : rows;
  }

  const ProgramNames& names() const { return form == Form::recurrent ? notation_.token : notation_.rows; }

  /// Records the rows of a program and of the inputs beside them. A name that both have stands for the same
  /// numbers: Record says which names are taken.
  void record_inputs(const Block& block, const Program<Scalar>& program, Record& record) const {
    const ProgramNames& called = names();
    Recorder recorder(record);
    const auto keep = [&](const std::string& name, const auto& rows) {
      if (record.contains(name)) {
        throw Error(
            fmt::format("\"{}\" is recorded twice: a tensor of the form has this name already", name));
      }
      recorder(name, rows);
    };
    std::map<std::string, Matrix<Scalar>> made;
    const auto make = [&](const std::string& name, const Matrix<Scalar>& rows) {
      if (!name.empty() && rows.rows() > 0) made.emplace(name, rows);
    };
    make(called.q, program.q);
    make(called.k, program.k);
    make(called.v, program.v);
    make(called.a, program.a);
    make(called.k_plain, program.k_plain);
    make(called.v_plain, program.v_plain);
    if (structure_.decay != Decay::none) make("alpha", program.alpha());
    if (structure_.value_decay) make("mu", program.mu);
    if (structure_.beta) make(called.beta, program.beta);

    for (const std::string& name : sequence_.names_with_tokens()) {
      const bool is_common = name == "q" || name == "k" || name == "v";
      const std::string shown = is_common && form != Form::recurrent ? capitalised(name) : name;
      Matrix<Scalar> given = sequence_.at(name).template rows<Scalar>(block.first_token, block.count);
      const auto same = made.find(shown);
      if (same != made.end()) {
        Matrix<Scalar> expected = given;
        if (name == "q") expected *= static_cast<Scalar>(sequence_.parameter("scale"));
        if (name == "alpha" && sequence_.gates_are_logs) expected = exponential(given.array()).matrix();
        require_same(name, same->second, expected, name == "alpha");
        if (name == "q") same->second = given;  // shown before its scale
      } else if (name != "alpha") {
        made.emplace(shown, std::move(given));
      }
    }
    for (const auto& [name, rows] : made) keep(name, oriented(rows));
    if (!structure_.parts.empty() && form != Form::recurrent) {
      recorder("transition", program.transition);
      recorder("inject", program.inject);
      recorder("read_sight", program.read_sight);
      recorder("read_times", times(program.output_readers()));
      if (structure_.erase != Erase::none) {
        recorder("erase_sight", program.erase_sight);
        recorder("erase_times", times(program.erase_readers()));
      }
    }
    if (structure_.rows_per_read > 1) {
      const bool first = structure_.read_at == ReadAt::before_row;
      recorder(first ? "first_steps" : "last_steps", reading_steps(program));
    }
    if (scaled_) recorder("scale", sequence_.parameter("scale"));
    for (const std::string& array : notation_.arrays)
      recorder(array, sequence_.at(array).template all<Scalar>());
    for (const std::string& parameter : notation_.parameters) {
      recorder(parameter, sequence_.parameter(parameter));
    }
  }

  /// Throws Error where a program has other numbers than the input whose name it takes: then the equations
  /// would show numbers that were not computed with. Several rows of a token share its input; a gate may also
  /// be 1 there.
  void require_same(const std::string& name, const Matrix<Scalar>& made, const Matrix<Scalar>& given,
                    bool is_gate) const {
    const bool fits = made.size() == given.size();
    // An exponential may take another path in another place of a vector.
    const auto equal = [](Scalar x, Scalar y) {
      return x == y || std::abs(x - y) <= 4 * std::numeric_limits<Scalar>::epsilon() * std::abs(y);
    };
    const bool may_be_one = is_gate && structure_.rows_per_read > 1;
    const auto is_one_of = [&](Index row, Scalar number) {
      const Index token = std::min(row / structure_.rows_per_read, given.rows() - 1);
      bool found = false;
      for (Index i = 0; !found && i < given.cols(); ++i) found = equal(number, given(token, i));
      return found;
    };
    bool same = true;
    for (Index row = 0; row < made.rows(); ++row) {
      for (Index column = 0; same && column < made.cols(); ++column) {
        const Scalar number = made(row, column);
        same = (may_be_one && number == 1) ||
               (fits ? equal(number, given.data()[row * made.cols() + column]) : is_one_of(row, number));
      }
    }
    if (same) return;
    throw Error(fmt::format(
        "the rule computes \"{}\" but its input has that name: what it makes needs a name of its own, and an "
        "operation that shows how",
        name));
  }

  /// [R, 2]: after how many decays and how many writes each reader reads.
  static Matrix<Scalar> times(const std::vector<Reader>& readers) {
    Matrix<Scalar> table(static_cast<Index>(readers.size()), 2);
    for (Index s = 0; s < table.rows(); ++s) {
      table(s, 0) = static_cast<Scalar>(readers[static_cast<std::size_t>(s)].decays);
      table(s, 1) = static_cast<Scalar>(readers[static_cast<std::size_t>(s)].writes);
    }
    return table;
  }

  /// [R, N]: 1 where row n is the one of the rows of token r that its read belongs to.
  static Matrix<Scalar> reading_steps(const Program<Scalar>& program) {
    const Structure& structure = program.structure;
    Matrix<Scalar> picks = Matrix<Scalar>::Zero(program.reads(), program.rows());
    for (Index s = 0; s < program.reads(); ++s)
      picks(s, s * structure.rows_per_read + structure.reading_row()) = 1;
    return picks;
  }

  void record_outputs(const Matrix<Scalar>& read, Recorder& recorder) const {
    if (read.rows() == 0) return;
    recorder(names().o, oriented(read));
    const Matrix<Scalar> o = rule_.finish<Scalar>(read, sequence_);
    recorder(form == Form::recurrent ? "o" : "O", oriented(o));
  }

  const RowRule& rule_;
  const Engines<Scalar>& engines_;
  Sequence sequence_;
  Index size_;
  Index write_blocks_;
  Notation notation_;
  Structure structure_;
  Index batch_;  // tokens of an inner batch
  bool scaled_ = false;
  Index steps_ = 1;  // of one token, each a block of its own: the recurrent form of several rows per token
  mutable Checkpoints<Scalar> checkpoints_;
};

}  // namespace

std::unique_ptr<Trace> make_row_trace(const RowRule& rule, const Sequence& sequence, Form form,
                                      Precision precision, Index chunk_size, std::size_t budget,
                                      const DeviceEngines& engines) {
  if (precision == Precision::f64) {
    return std::make_unique<RowTrace<double>>(rule, sequence, form, chunk_size, budget, engines.f64);
  }
  return std::make_unique<RowTrace<float>>(rule, sequence, form, chunk_size, budget, engines.f32);
}

}  // namespace palimpsest
