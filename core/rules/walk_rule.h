#pragma once

#include "core/engines/engines.h"
#include "core/engines/walk.h"
#include "core/rules/rule.h"
#include "core/steps/phase.h"

namespace palimpsest {

/// Another rule that computes the same with some settings: some rules are row programs with some options, and
/// only as such have a form over the whole sequence.
struct ParallelRule {
  std::shared_ptr<const Rule> rule;
  std::function<bool(const Settings&)> applies;    // whether the parallel form is that of `rule`
  std::function<bool(const Settings&)> is_linear;  // whether the channels of the memory are
};

/// What defines a rule that walks, besides its walk.
struct WalkDeclaration {
  std::function<Steps(const Sequence&, Form, Index chunk_size)> steps;
  std::function<Work(const Sequence&, Form, Index chunk_size)> cost;  // empty: it is not known
  /// Why a form does not exist; empty: all do that Rule has.
  std::function<std::optional<std::string>(Form, const Settings&)> missing = {};
  /// Why the memory is no linear function of the values; empty: the walk has channels.
  std::function<std::string(const Settings&)> nonlinear = {};
  std::optional<ParallelRule> parallel = {};
};

/// How a sequence walks through a form.
template <class Scalar>
using WalkOf = std::unique_ptr<const Walk<Scalar>>(const Sequence&, Form, Index chunk_size,
                                                   const Engines<Scalar>&);

/// A rule that is no row program but carries something from block to block: how a sequence walks through a
/// form, and what is shown of it.
std::shared_ptr<const Rule> walk_rule(InEither<WalkOf> walk, WalkDeclaration declaration);

/// The same from a class of walks whose constructor takes just these.
template <template <class> class WalkClass>
std::shared_ptr<const Rule> walk_rule(WalkDeclaration declaration) {
  return walk_rule(
      []<class Scalar>(const Sequence& sequence, Form form, Index chunk_size,
                       const Engines<Scalar>& engines) {
        return std::make_unique<WalkClass<Scalar>>(sequence, form, chunk_size, engines);
      },
      std::move(declaration));
}

}  // namespace palimpsest
