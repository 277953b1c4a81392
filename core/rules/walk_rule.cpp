#include "core/rules/walk_rule.h"

namespace palimpsest {

namespace {

template <class Scalar>
Footprint run_footprint(const Walk<Scalar>& walk) {
  const auto carried = static_cast<double>(number_count(walk.initial()));
  const Sequence& sequence = walk.sequence();
  const double outputs = static_cast<double>(sequence.tokens) * static_cast<double>(sequence.dv);
  Footprint footprint = walk.need(false);
  footprint.work += sizeof(Scalar) * (2 * carried + outputs);
  footprint.kept = sizeof(double) * (carried + outputs);
  return footprint;
}

class WalkRule : public Rule {
 public:
  WalkRule(InEither<WalkOf> walk, WalkDeclaration declaration)
      : walk_(std::move(walk)), declaration_(std::move(declaration)) {}

 private:
  /// Returns `use` of the walk in this precision. Throws Unsupported where the form is missing.
  template <class Use>
  auto with_walk(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                 const DeviceEngines& engines, Use use) const {
    require_form(form, sequence.settings, chunk_size);
    return engines.with(precision, [&]<class Scalar>(const Engines<Scalar>& of_scalar) {
      return use(walk_.in<Scalar>()(sequence, form, chunk_size, of_scalar));
    });
  }

  /// The rule whose form replaces the walk; null: none.
  const Rule* other(Form form, const Settings& settings) const {
    const auto& parallel = declaration_.parallel;
    return form == Form::parallel && parallel && parallel->applies(settings) ? parallel->rule.get() : nullptr;
  }

 public:
  std::optional<std::string> missing(Form form, const Settings& settings) const override {
    if (const Rule* rule = other(form, settings)) return rule->missing(form, settings);
    const auto& reason_of = declaration_.missing;
    if (std::optional<std::string> reason = reason_of ? reason_of(form, settings) : std::nullopt)
      return reason;
    return Rule::missing(form, settings);
  }

  std::vector<Output> run_heads(std::span<const Sequence> heads, Form form, Precision precision,
                                Index chunk_size, std::stop_token stop,
                                const DeviceEngines& engines) const override {
    if (heads.empty()) return {};
    if (const Rule* rule = other(form, heads.front().settings))
      return rule->run_heads(heads, form, precision, chunk_size, std::move(stop), engines);
    require_form(form, heads.front().settings, chunk_size);
    return engines.with(precision, [&]<class Scalar>(const Engines<Scalar>& of_scalar) {
      const auto walks = made_in_parallel(heads.size(), stop, [&](std::size_t h) {
        return walk_.in<Scalar>()(heads[h], form, chunk_size, of_scalar);
      });
      require_footprint(run_footprint(*walks.front()), heads.front(), form, chunk_size);
      std::vector<Walked<Scalar>> walked = walks.front()->walk_together(walks, chunk_size, stop);
      stop_if_asked(stop);
      return made_in_parallel(walks.size(), stop, [&](std::size_t h) -> Output {
        return {in_f64(std::move(walked[h].o)), walks[h]->states(walked[h].carried)};
      });
    });
  }

  KernelKind kernel(const Sequence& sequence, Form form, Precision precision,
                    const DeviceEngines& engines) const override {
    if (const Rule* rule = other(form, sequence.settings))
      return rule->kernel(sequence, form, precision, engines);
    return with_walk(sequence, form, precision, 1, engines, [](const auto& walk) { return walk->kernel(); });
  }

  Footprint footprint(const Sequence& sequence, Form form, Precision precision,
                      Index chunk_size) const override {
    if (const Rule* rule = other(form, sequence.settings))
      return rule->footprint(sequence, form, precision, chunk_size);
    return with_walk(sequence, form, precision, chunk_size, cpu_engines(),
                     [](const auto& walk) { return run_footprint(*walk); });
  }

  std::unique_ptr<Trace> trace(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                               std::size_t budget, const DeviceEngines& engines) const override {
    if (const Rule* rule = other(form, sequence.settings))
      return rule->trace(sequence, form, precision, chunk_size, budget, engines);
    return with_walk(sequence, form, precision, chunk_size, engines, [&](auto walk) {
      require_footprint(walk->need(true), sequence, form, chunk_size, true);
      return make_walk_trace(std::move(walk), declaration_.steps(sequence, form, chunk_size),
                             groups_of(form, sequence.tokens, chunk_size, inner_batch(sequence.settings)),
                             budget);
    });
  }

  void walk_states(const Sequence& sequence, const VisitStates& visit, std::stop_token stop) const override {
    const std::unique_ptr<const Walk<double>> walk =
        walk_.f64(sequence, Form::recurrent, 1, cpu_engines().f64);
    Carried<double> carried = walk->initial();
    if (!visit(0, walk->states(carried))) return;
    for (Index index = 0; index < walk->block_count(); ++index) {
      stop_if_asked(stop);
      walk->advance(index, carried, nullptr, stop);
      const Block block = walk->block(index);
      const Index tokens = block.first_token + block.count;
      if (block.phase == 0 && !visit(tokens, walk->states_after(tokens, carried))) return;
    }
  }

  std::optional<Work> cost(const Sequence& sequence, Form form, Index chunk_size) const override {
    if (const Rule* rule = other(form, sequence.settings)) return rule->cost(sequence, form, chunk_size);
    require_form(form, sequence.settings, chunk_size);
    if (!declaration_.cost) return std::nullopt;
    return declaration_.cost(sequence, form, chunk_size);
  }

  Amplification amplification(const Sequence& sequence, Form form, Index chunk_size,
                              std::stop_token stop) const override {
    const Rule* rule = other(form, sequence.settings);
    return rule ? rule->amplification(sequence, form, chunk_size, std::move(stop)) : Amplification();
  }

  Channel channel(const Sequence& sequence, Index column) const override {
    const auto& parallel = declaration_.parallel;
    if (parallel && parallel->is_linear(sequence.settings)) return parallel->rule->channel(sequence, column);
    if (declaration_.nonlinear) throw Unsupported(declaration_.nonlinear(sequence.settings));
    std::optional<Channel> channel =
        walk_.f64(sequence, Form::recurrent, 1, cpu_engines().f64)->channel(column);
    return channel ? *std::move(channel) : Rule::channel(sequence, column);
  }

 private:
  InEither<WalkOf> walk_;
  WalkDeclaration declaration_;
};

}  // namespace

std::shared_ptr<const Rule> walk_rule(InEither<WalkOf> walk, WalkDeclaration declaration) {
  return std::make_shared<WalkRule>(std::move(walk), std::move(declaration));
}

}  // namespace palimpsest
