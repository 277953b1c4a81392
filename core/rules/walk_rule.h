#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "core/engines/engines.h"
#include "core/engines/walk.h"
#include "core/rules/rule.h"
#include "core/steps/phase.h"

namespace palimpsest {

/// A rule that is no row program but carries something from block to block: how a sequence walks through a
/// form, in both precisions, and what is shown of it.
class WalkRule : public Rule {
 public:
  template <class Scalar>
  using WalkOf = std::function<std::unique_ptr<const Walk<Scalar>>(const Sequence&, Form, Index chunk_size,
                                                                   const Engines<Scalar>&)>;
  using StepsOf = std::function<Steps(const Sequence&, Form, Index chunk_size)>;
  using MissingOf = std::function<std::optional<std::string>(Form, const Settings&)>;
  using NonlinearOf = std::function<std::string(const Settings&)>;

  /// `missing` says why a form does not exist; empty: all do that Rule has. `nonlinear` says why the memory
  /// is no linear function of the values; empty: the walk has channels.
  WalkRule(WalkOf<double> walk_f64, WalkOf<float> walk_f32, StepsOf steps, MissingOf missing,
           NonlinearOf nonlinear)
      : walk_f64_(std::move(walk_f64)),
        walk_f32_(std::move(walk_f32)),
        steps_(std::move(steps)),
        missing_(std::move(missing)),
        nonlinear_(std::move(nonlinear)) {}

  std::optional<std::string> missing(Form form, const Settings& settings) const override;
  Output run(const Sequence& sequence, Form form, Precision precision, Index chunk_size, std::stop_token stop,
             const DeviceEngines& engines) const override;
  std::vector<Output> run_heads(std::span<const Sequence> heads, Form form, Precision precision,
                                Index chunk_size, std::stop_token stop,
                                const DeviceEngines& engines) const override;
  Footprint footprint(const Sequence& sequence, Form form, Precision precision,
                      Index chunk_size) const override;
  std::unique_ptr<Trace> trace(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                               std::size_t budget, const DeviceEngines& engines) const override;
  void walk_states(const Sequence& sequence, const VisitStates& visit, std::stop_token stop) const override;
  std::optional<Work> cost(const Sequence& sequence, Form form, Index chunk_size) const override;
  Channel channel(const Sequence& sequence, Index column) const override;

 private:
  /// What `use` makes of the walk in this precision. Throws Unsupported where the form is missing.
  template <class Use>
  auto with_walk(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                 const DeviceEngines& engines, Use use) const;

  WalkOf<double> walk_f64_;
  WalkOf<float> walk_f32_;
  StepsOf steps_;
  MissingOf missing_;
  NonlinearOf nonlinear_;
};

/// A rule from one generic function `std::unique_ptr<const Walk<Scalar>> walk<Scalar>(const Sequence&, Form,
/// Index chunk_size, const Engines<Scalar>&)`.
template <class Function>
std::shared_ptr<const Rule> walk_rule(Function walk, WalkRule::StepsOf steps,
                                      WalkRule::MissingOf missing = {},
                                      WalkRule::NonlinearOf nonlinear = {}) {
  return std::make_shared<WalkRule>(
      [walk](const Sequence& sequence, Form form, Index chunk_size, const Engines<double>& engines) {
        return walk.template operator()<double>(sequence, form, chunk_size, engines);
      },
      [walk](const Sequence& sequence, Form form, Index chunk_size, const Engines<float>& engines) {
        return walk.template operator()<float>(sequence, form, chunk_size, engines);
      },
      std::move(steps), std::move(missing), std::move(nonlinear));
}

/// `rule`, but with the parallel form of `parallel` where `applies` says so: some rules are row programs with
/// some options, and only as such have a form over the whole sequence. The channels of its memory are those
/// of `parallel` where `is_linear` says so; empty: where `applies` does.
std::shared_ptr<const Rule> with_parallel(std::shared_ptr<const Rule> rule,
                                          std::shared_ptr<const Rule> parallel,
                                          std::function<bool(const Settings&)> applies,
                                          std::function<bool(const Settings&)> is_linear = {});

}  // namespace palimpsest
