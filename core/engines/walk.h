#pragma once

#include <limits>

#include "core/base/parallel_for.h"
#include "core/engines/engine.h"
#include "core/operator/blocks.h"
#include "core/operator/channel.h"

namespace palimpsest {

/// The result of a walk over a whole sequence.
template <class Scalar>
struct Walked {
  Matrix<Scalar> o;         // [T, V]
  Carried<Scalar> carried;  // after the last block
};

/// The computation of one sequence in one form, block by block: for rules that are no row programs. A block
/// is one token (recurrent), at most a chunk (chunkwise) or the whole sequence (parallel).
template <class Scalar>
class Walk {
 public:
  /// `batch`: tokens of an inner batch, whose end no chunk crosses; none: the whole sequence.
  Walk(const Sequence& sequence, Form form, Index chunk_size, Index batch = std::numeric_limits<Index>::max())
      : sequence_(sequence), form_(form), pieces_(pieces(sequence.tokens, form, chunk_size, batch)) {}
  virtual ~Walk() = default;

  const Sequence& sequence() const { return sequence_; }
  Form form() const { return form_; }

  virtual Index block_count() const { return pieces_.piece_count(); }
  virtual Block block(Index index) const {
    const Piece piece = pieces_.piece(index);
    return {.first_token = piece.first, .count = piece.count, .starts_anew = piece.offset == 0};
  }
  virtual Index block_of(Index token, Index /*phase*/) const { return pieces_.piece_of(token); }

  /// What is carried before block 0.
  virtual Carried<Scalar> initial() const = 0;

  /// The block whose initial state block `index` starts from: itself, unless a phase goes over the same
  /// tokens again. Never later than that of the last block.
  virtual Index starts_at(Index index) const { return index; }

  /// Advances `carried` over block `index`. Returns the outputs of its tokens, [count, V], or no rows at all.
  /// The caller records the outputs. Throws Cancelled when asked to stop.
  virtual Matrix<Scalar> advance(Index index, Carried<Scalar>& carried, Recorder* recorder,
                                 const std::stop_token& stop) const = 0;

  /// The kernel with which walk_together() runs heads like this one.
  virtual KernelKind kernel() const { return KernelKind::plain; }

  /// Runs all `heads`, walks like this one over sequences of one size with this one first, from the first to
  /// the last block: together where the engines can, else block by block. Throws Cancelled when asked to
  /// stop.
  virtual std::vector<Walked<Scalar>> walk_together(std::span<const std::unique_ptr<const Walk>> heads,
                                                    Index /*chunk_size*/, const std::stop_token& stop) const {
    std::vector<Walked<Scalar>> walked;
    for (const auto& head : heads) {
      walked.push_back({Matrix<Scalar>(sequence_.tokens, sequence_.dv), head->initial()});
      auto& [o, carried] = walked.back();
      for (Index index = 0; index < head->block_count(); ++index) {
        stop_if_asked(stop);
        const Matrix<Scalar> outputs = head->advance(index, carried, nullptr, stop);
        if (outputs.rows() > 0) o.middleRows(head->block(index).first_token, outputs.rows()) = outputs;
      }
    }
    return walked;
  }

  /// The states of the rule, by the names of Variant::states, in what is carried after the last block.
  virtual NamedStates states(const Carried<Scalar>& carried) const = 0;

  /// Of a walk token by token: the states as they would be if the sequence ended after `tokens` >= 1, once
  /// its last token has been passed in phase 0.
  virtual NamedStates states_after(Index /*tokens*/, const Carried<Scalar>& carried) const {
    return states(carried);
  }

  /// The states by the same names, from the tensors of a trace.
  virtual NamedStates recorded_states(const Record& latest, const Carried<Scalar>& initial) const {
    NamedStates recorded = states(initial);
    for (auto& [name, value] : recorded) value = latest.at(after(name));
    return recorded;
  }

  /// The name of a state after a block: S_after of a token, S_out of a chunk or the sequence.
  std::string after(const std::string& state) const {
    return state + (form_ == Form::recurrent ? "_after" : "_out");
  }

  /// One column of the state, counted as in Rule::channel(); it may outlive the walk. None where the state is
  /// not linear in the values.
  virtual std::optional<Channel> channel(Index /*column*/) const { return std::nullopt; }

  /// The peak memory of the largest block, besides what is carried; more if every tensor of it is recorded.
  /// An upper estimate; zero where the rule states it elsewhere.
  virtual Footprint need(bool /*recorded*/) const { return {}; }

 protected:
  Rows<Scalar> rows(const Block& block) const { return {sequence_, block.first_token, block.count}; }

  void record_input(const char* name, const Block& block, Recorder& recorder) const {
    recorder.rows(name, form_ == Form::recurrent, rows(block)(name));
  }

  /// Records the factor of the query unless it is 1.
  void record_scale(Recorder& recorder) const {
    if (sequence_.parameter("scale") != 1) recorder("scale", sequence_.parameter("scale"));
  }

  void record_inputs(const Block& block, Recorder& recorder) const {
    for (const char* name : {"q", "k", "v"}) record_input(name, block, recorder);
    record_scale(recorder);
  }

  /// Bytes of one number, also kept as double where it is recorded.
  static double number_size(bool recorded) { return sizeof(Scalar) + (recorded ? sizeof(double) : 0); }

  Sequence sequence_;
  Form form_;
  InnerBatches pieces_;

 private:
  static InnerBatches pieces(Index tokens, Form form, Index chunk_size, Index batch) {
    const Index all = std::max<Index>(tokens, 1);
    if (form == Form::parallel) return {tokens, all, all};
    return {tokens, std::min(batch, all), form == Form::recurrent ? 1 : chunk_size};
  }
};

/// A walk whose blocks are operators of one family.
template <template <class> class Operator, class Scalar>
class OperatorWalk : public Walk<Scalar> {
 public:
  OperatorWalk(const Sequence& sequence, Form form, Index chunk_size, const Engine<Operator, Scalar>& engine,
               Index batch = std::numeric_limits<Index>::max())
      : Walk<Scalar>(sequence, form, chunk_size, batch), engine_(engine) {}

  Matrix<Scalar> advance(Index index, Carried<Scalar>& carried, Recorder* recorder,
                         const std::stop_token& stop) const override {
    const Block block = this->block(index);
    const Operator<Scalar> rows = tokens(block);
    if (recorder) record_given(block, carried, *recorder);
    return engine_.block({.form = this->form_, .phase = block.phase, .tap = recorder, .stop = stop}, rows,
                         carried);
  }

  KernelKind kernel() const override {
    return engine_.kernel({.form = this->form_},
                          tokens({.count = std::min<Index>(this->sequence_.tokens, 1)}));
  }

  std::vector<Walked<Scalar>> walk_together(std::span<const std::unique_ptr<const Walk<Scalar>>> heads,
                                            Index chunk_size, const std::stop_token& stop) const override {
    if (engine_.most_bytes() == 0) return Walk<Scalar>::walk_together(heads, chunk_size, stop);
    const auto all = made_in_parallel(heads.size(), stop, [&](std::size_t h) {
      const auto& head = static_cast<const OperatorWalk&>(*heads[h]);
      return head.tokens({.count = head.sequence_.tokens});
    });
    std::vector<Carried<Scalar>> carried = made_of(heads, [](const auto& head) { return head->initial(); });
    std::vector<Matrix<Scalar>> o =
        engine_.run({.form = this->form_, .chunk_size = chunk_size, .stop = stop}, all, carried);
    std::vector<Walked<Scalar>> walked;
    for (std::size_t head = 0; head < heads.size(); ++head)
      walked.push_back({std::move(o[head]), std::move(carried[head])});
    return walked;
  }

 protected:
  /// The engine's input for a block; for whole heads, the block that holds all tokens.
  virtual Operator<Scalar> tokens(const Block& block) const = 0;

  /// Records the inputs of a block that the engine does not record.
  virtual void record_given(const Block& block, const Carried<Scalar>& /*carried*/,
                            Recorder& recorder) const {
    this->record_inputs(block, recorder);
  }

  const Engine<Operator, Scalar>& engine_;
};

}  // namespace palimpsest
