#include "core/rules/with_parallel.h"

#include "core/operator/channel.h"
#include "core/rules/amplification.h"

namespace palimpsest {

namespace {

class WithParallel : public Rule {
 public:
  WithParallel(std::shared_ptr<const Rule> rule, std::shared_ptr<const Rule> parallel,
               std::function<bool(const Settings&)> applies, std::function<bool(const Settings&)> is_linear)
      : rule_(std::move(rule)),
        parallel_(std::move(parallel)),
        applies_(std::move(applies)),
        is_linear_(std::move(is_linear)) {}

  std::optional<std::string> missing(Form form, const Settings& settings) const override {
    return choose(form, settings).missing(form, settings);
  }

  Output run(const Sequence& sequence, Form form, Precision precision, Index chunk_size, std::stop_token stop,
             const DeviceEngines& engines) const override {
    return choose(form, sequence.settings)
        .run(sequence, form, precision, chunk_size, std::move(stop), engines);
  }

  std::vector<Output> run_heads(std::span<const Sequence> heads, Form form, Precision precision,
                                Index chunk_size, std::stop_token stop,
                                const DeviceEngines& engines) const override {
    if (heads.empty()) return {};
    return choose(form, heads.front().settings)
        .run_heads(heads, form, precision, chunk_size, std::move(stop), engines);
  }

  std::string fused_kernel(const Sequence& sequence, Form form, Precision precision,
                           const DeviceEngines& engines) const override {
    return choose(form, sequence.settings).fused_kernel(sequence, form, precision, engines);
  }

  void walk_states(const Sequence& sequence, const VisitStates& visit, std::stop_token stop) const override {
    rule_->walk_states(sequence, visit, std::move(stop));
  }

  bool is_causal(const Sequence& sequence) const override { return rule_->is_causal(sequence); }

  Footprint footprint(const Sequence& sequence, Form form, Precision precision,
                      Index chunk_size) const override {
    return choose(form, sequence.settings).footprint(sequence, form, precision, chunk_size);
  }

  std::optional<Work> cost(const Sequence& sequence, Form form, Index chunk_size) const override {
    return choose(form, sequence.settings).cost(sequence, form, chunk_size);
  }

  Amplification amplification(const Sequence& sequence, Form form, Index chunk_size,
                              std::stop_token stop) const override {
    return choose(form, sequence.settings).amplification(sequence, form, chunk_size, std::move(stop));
  }

  std::unique_ptr<Trace> trace(const Sequence& sequence, Form form, Precision precision, Index chunk_size,
                               std::size_t budget, const DeviceEngines& engines) const override {
    return choose(form, sequence.settings).trace(sequence, form, precision, chunk_size, budget, engines);
  }

  Channel channel(const Sequence& sequence, Index column) const override {
    return (is_linear_(sequence.settings) ? *parallel_ : *rule_).channel(sequence, column);
  }

 private:
  const Rule& choose(Form form, const Settings& settings) const {
    return form == Form::parallel && applies_(settings) ? *parallel_ : *rule_;
  }

  std::shared_ptr<const Rule> rule_;
  std::shared_ptr<const Rule> parallel_;
  std::function<bool(const Settings&)> applies_;
  std::function<bool(const Settings&)> is_linear_;
};

}  // namespace

std::shared_ptr<const Rule> with_parallel(std::shared_ptr<const Rule> rule,
                                          std::shared_ptr<const Rule> parallel,
                                          std::function<bool(const Settings&)> applies,
                                          std::function<bool(const Settings&)> is_linear) {
  if (!is_linear) is_linear = applies;
  return std::make_shared<WithParallel>(std::move(rule), std::move(parallel), std::move(applies),
                                        std::move(is_linear));
}

}  // namespace palimpsest
