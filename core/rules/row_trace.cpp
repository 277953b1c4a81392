#include "core/rules/row_rule.h"

#include "core/engines/engines.h"
#include "core/engines/walk.h"

namespace palimpsest {

namespace {

Index block_size(Form form, Index tokens, Index chunk_size) {
  if (form == Form::recurrent) return 1;
  if (form == Form::parallel) return std::max<Index>(tokens, 1);
  return chunk_size;
}

/// A row program on its way through a form as a trace shows it. A block is a row of a token (recurrent), a
/// chunk or the whole sequence; a second phase goes over the chunks again, or reads the finished memory.
template <class Scalar>
class RowWalk : public Walk<Scalar> {
 public:
  RowWalk(const RowRule& rule, const Sequence& sequence, Form form, Index chunk_size,
          const Engine<Program, Scalar>& engine)
      : Walk<Scalar>(sequence, form, chunk_size),
        rule_(rule),
        engine_(engine),
        size_(block_size(form, sequence.tokens, chunk_size)) {}

  Steps shown() const {
    return {row_phases(structure_, notation_, form_, scaled_), row_symbols(structure_, notation_, form_)};
  }

  Groups groups(Index chunk_size) const {
    const bool cuts_batches = has_chunks(form_) && batch_ % size_ != 0;
    return groups_of(form_, sequence_.tokens, chunk_size, cuts_batches ? 1 : batch_);
  }

  Index block_count() const override { return write_blocks_ * (steps_ > 1 ? steps_ : phases_); }

  Block block(Index index) const override {
    if (steps_ > 1) return {phase_of(index % steps_), index / steps_, 1};
    const Index first = index % write_blocks_ * size_;
    return {.phase = index / write_blocks_,
            .first_token = first,
            .count = std::min(size_, sequence_.tokens - first),
            .starts_anew = first % batch_ == 0};
  }

  Index block_of(Index token, Index phase) const override {
    if (steps_ > 1) return token * steps_ + (phase == 0 ? 0 : steps_ - 1);
    return phase * write_blocks_ + token / size_;
  }

  Carried<Scalar> initial() const override { return {rule_.template initial_state<Scalar>(sequence_)}; }

  /// The second of two passes starts from the state before its chunk, reads at the end from the last one.
  Index starts_at(Index index) const override {
    if (steps_ > 1 || index < write_blocks_) return index;
    return structure_.reads_on_the_way() ? index - write_blocks_ : write_blocks_;
  }

  Matrix<Scalar> advance(Index index, Carried<Scalar>& S, Recorder* recorder,
                         const std::stop_token& stop) const override {
    const Block block = this->block(index);
    Program<Scalar> program = rule_.template encode<Scalar>(sequence_, block.first_token, block.count);
    if (steps_ > 1) program = program.row(index % steps_);
    const auto run = [&](Index phase, const Program<Scalar>& rows, Carried<Scalar>& from, Recorder* tap) {
      return engine_.block({.form = form_, .chunk_size = size_, .phase = phase, .tap = tap, .stop = stop},
                           rows, from);
    };
    Matrix<Scalar> read;
    if (steps_ > 1 || block.phase == 0) {
      read = run(0, program, S, recorder);
      if (form_ == Form::two_pass) read.resize(0, program.v.cols());
    } else {
      const bool reads_at_end = !structure_.reads_on_the_way();
      if (reads_at_end && recorder) (*recorder)("S_final", S.front());
      Program<Scalar> written = program;
      Carried<Scalar> S_after = S;
      if (!reads_at_end) written.v = run(0, program, S_after, nullptr);
      read = run(1, written, S, recorder);
    }
    if (recorder) record_inputs(block, program, *recorder);
    if (read.rows() == 0) return read;
    note(recorder, names().o, oriented(read));
    return rule_.template finish<Scalar>(std::move(read), sequence_, block.first_token);
  }

  NamedStates states(const Carried<Scalar>& carried) const override {
    return rule_.named_states(carried.front().template cast<double>(), sequence_);
  }

  /// The recurrent form makes the parts of a state one by one; what a rule hands on is in the first ones.
  NamedStates recorded_states(const Record& latest, const Carried<Scalar>& initial) const override {
    if (form_ != Form::recurrent || structure_.parts.empty())
      return rule_.named_states(latest.at(this->after("S")), sequence_);
    Matrix<double> S = Matrix<double>::Zero(initial.front().rows(), initial.front().cols());
    const Index rows = S.rows() / structure_.part_count();
    for (Index i = 0; i < structure_.part_count(); ++i) {
      const std::string name = this->after(std::string(1, entry(structure_.parts, i)));
      if (latest.contains(name)) S.middleRows(i * rows, rows) = latest.at(name);
    }
    return rule_.named_states(S, sequence_);
  }

 private:
  using Walk<Scalar>::sequence_;
  using Walk<Scalar>::form_;

  /// Which of the two phases a step of a token is: the token reads in the first or in the last of them.
  Index phase_of(Index step) const {
    if (structure_.read_at == ReadAt::before_row) return step == 0 ? 0 : 1;
    return step == steps_ - 1 ? 1 : 0;
  }

  /// One token's row as a column, or the rows of a chunk as they are.
  Matrix<Scalar> oriented(const Matrix<Scalar>& rows) const {
    return form_ == Form::recurrent ? Matrix<Scalar>(rows.transpose()) : rows;
  }

  const ProgramNames& names() const { return form_ == Form::recurrent ? notation_.token : notation_.rows; }

  /// Records the rows of a program and of the inputs. A name that both have means the same numbers (see
  /// Record).
  void record_inputs(const Block& block, const Program<Scalar>& program, Recorder& recorder) const {
    const ProgramNames& called = names();
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
      const bool is_common = is_among(name, {"q", "k", "v"});
      const std::string shown = is_common && form_ != Form::recurrent ? capitalised(name) : name;
      Matrix<Scalar> given = sequence_.at(name).template rows<Scalar>(block.first_token, block.count);
      if (name == "alpha" && sequence_.gates_are_logs) given = exponential(given.array()).matrix();
      const auto [same, is_new] = made.try_emplace(shown, given);
      if (is_new) continue;
      const double factor = name == "q" ? sequence_.parameter("scale") : 1;
      require_same(name, same->second, given * static_cast<Scalar>(factor), name == "alpha");
      if (name == "q") same->second = given;  // shown before its scale
    }
    for (const auto& [name, rows] : made) {
      if (recorder.has(name)) {
        throw Error(
            fmt::format("\"{}\" is recorded twice: a tensor of the form has this name already", name));
      }
      recorder(name, oriented(rows));
    }
    if (!structure_.parts.empty() && form_ != Form::recurrent) {
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

  /// Throws Error where a program has other numbers than the input whose name it uses: the equations would
  /// then show numbers that were not used. Several rows of a token share its input; a gate may also be 1
  /// there.
  void require_same(const std::string& name, const Matrix<Scalar>& made, const Matrix<Scalar>& given,
                    bool is_gate) const {
    const bool fits = made.size() == given.size();
    // exp may round differently at another position of a vector.
    const auto equal = [](Scalar x, Scalar y) {
      return x == y || std::abs(x - y) <= 4 * std::numeric_limits<Scalar>::epsilon() * std::abs(y);
    };
    const bool may_be_one = is_gate && structure_.rows_per_read > 1;
    const auto is_one_of = [&](Index row, Scalar number) {
      const Index token = std::min(row / structure_.rows_per_read, given.rows() - 1);
      return given.row(token).unaryExpr([&](Scalar each) { return equal(number, each); }).any();
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
      table(s, 0) = static_cast<Scalar>(entry(readers, s).decays);
      table(s, 1) = static_cast<Scalar>(entry(readers, s).writes);
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

  const RowRule& rule_;
  const Engine<Program, Scalar>& engine_;
  Index size_;
  Index write_blocks_ = (sequence_.tokens + size_ - 1) / size_;
  Notation notation_ = rule_.notation(sequence_.settings);
  Structure structure_ = rule_.structure(sequence_);
  Index batch_ = inner_batch(sequence_.settings);  // tokens of an inner batch
  bool scaled_ = is_scaled(sequence_.settings);
  // Of one token, each a block of its own: the recurrent form of several rows per token.
  Index steps_ = form_ == Form::recurrent ? structure_.rows_per_read : 1;
  Index phases_ = std::ssize(shown().phases);
};

}  // namespace

std::unique_ptr<Trace> RowRule::trace(const Sequence& sequence, Form form, Precision precision,
                                      Index chunk_size, std::size_t budget,
                                      const DeviceEngines& engines) const {
  require_form(form, sequence.settings, chunk_size);
  return engines.with(precision, [&]<class Scalar>(const Engines<Scalar>& all) {
    auto walk = std::make_unique<const RowWalk<Scalar>>(*this, sequence, form, chunk_size, all.rows);
    Steps steps = walk->shown();
    const Groups groups = walk->groups(chunk_size);
    return make_walk_trace<Scalar>(std::move(walk), std::move(steps), groups, budget);
  });
}

}  // namespace palimpsest
