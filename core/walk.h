#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/recorder.h"
#include "core/rule.h"
#include "core/trace.h"

namespace palimpsest {

/// The matrices that a rule carries from block to block.
template <class Scalar>
using Carried = std::vector<Matrix<Scalar>>;

/// One sequence on its way through one form, block by block: for rules that are no row programs.
template <class Scalar>
class Walk {
 public:
  virtual ~Walk() = default;

  virtual Index block_count() const = 0;
  virtual Block block(Index index) const = 0;
  virtual Index block_of(Index token, Index phase) const = 0;

  /// What is carried before block 0.
  virtual Carried<Scalar> initial() const = 0;

  /// Takes `carried` over block `index`. Returns the outputs of its tokens, [count, V], or no rows at all.
  virtual Matrix<Scalar> advance(Index index, Carried<Scalar>& carried, Recorder* recorder,
                                 const std::stop_token& stop) const = 0;

  /// The states of the rule in what is carried after the last block.
  virtual std::vector<std::pair<std::string, Matrix<double>>> states(
      const Carried<Scalar>& carried) const = 0;

  /// Of a walk token by token: the states as they would be if the sequence ended after `tokens` >= 1, once
  /// its last token has been passed in phase 0.
  virtual NamedStates states_after(Index tokens, const Carried<Scalar>& carried) const = 0;
};

/// Walks through the whole sequence: outputs [T, V] and final states.
template <class Scalar>
Output run(const Walk<Scalar>& walk, Index tokens, Index dv, const std::stop_token& stop);

/// Rule::walk_states of a walk token by token.
void walk_states(const Walk<double>& walk, const Rule::VisitStates& visit, const std::stop_token& stop);

/// The steps of a walk, carried matrices kept every few blocks within `budget` bytes.
template <class Scalar>
std::unique_ptr<Trace> make_walk_trace(std::unique_ptr<const Walk<Scalar>> walk, Form form, Index tokens,
                                       std::vector<Phase> phases, Symbols symbols, std::size_t budget);

/// A rule that is a walk. A Definition has
///   std::optional<std::string> missing(Form, const Settings&) const;
///   template <class Scalar> std::unique_ptr<const Walk<Scalar>> walk(const Sequence&, Form, Index chunk);
///   std::vector<Phase> phases(const Sequence&, Form, Index chunk) const;
///   Symbols symbols(const Sequence&, Form, Index chunk) const;
template <class Definition>
class WalkRule : public Rule {
 public:
  explicit WalkRule(Definition definition = {}) : definition_(std::move(definition)) {}

  std::optional<std::string> missing(Form form, const Settings& settings) const override {
    return definition_.missing(form, settings);
  }

  Output run(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
             std::stop_token stop) const override {
    check(sequence, form, chunk_size);
    return precision == Precision::f64 ? run_as<double>(sequence, form, chunk_size, stop)
                                       : run_as<float>(sequence, form, chunk_size, stop);
  }

  void walk_states(const Sequence& sequence, const VisitStates& visit, std::stop_token stop) const override {
    palimpsest::walk_states(*definition_.template walk<double>(sequence, Form::recurrent, 1), visit, stop);
  }

  std::unique_ptr<Trace> trace(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                               std::size_t budget) const override {
    check(sequence, form, chunk_size);
    return precision == Precision::f64 ? trace_as<double>(sequence, form, chunk_size, budget)
                                       : trace_as<float>(sequence, form, chunk_size, budget);
  }

 private:
  void check(const Sequence& sequence, Form form, Index chunk_size) const {
    require_chunk_size(chunk_size);
    if (const auto reason = missing(form, sequence.settings)) throw Unsupported(*reason);
  }

  template <class Scalar>
  Output run_as(const Sequence& sequence, Form form, Index chunk_size, const std::stop_token& stop) const {
    const auto walk = definition_.template walk<Scalar>(sequence, form, chunk_size);
    return palimpsest::run(*walk, sequence.tokens, sequence.dv, stop);
  }

  template <class Scalar>
  std::unique_ptr<Trace> trace_as(const Sequence& sequence, Form form, Index chunk_size,
                                  std::size_t budget) const {
    return make_walk_trace<Scalar>(definition_.template walk<Scalar>(sequence, form, chunk_size), form,
                                   sequence.tokens, definition_.phases(sequence, form, chunk_size),
                                   definition_.symbols(sequence, form, chunk_size), budget);
  }

  Definition definition_;
};

}  // namespace palimpsest
