#include "app/session/write_reach.h"

#include <algorithm>
#include <tuple>

#include "core/insight/learning.h"

namespace palimpsest {

bool erases_by_beta(const Trace& trace) {
  const auto any_step = [&](Purpose purpose, auto test) {
    return std::ranges::any_of(trace.phases, [&](const Phase& phase) {
      return std::ranges::any_of(phase.operations, [&](const Operation& operation) {
        return operation.purpose == purpose && test(operation);
      });
    });
  };
  const auto reads_beta = [](const Operation& operation) {
    const std::vector<std::string> read = operands(operation.equation.expression);
    return std::ranges::find(read, "beta") != read.end();
  };
  const bool reads = any_step(Purpose::read, [](const Operation&) { return true; });
  return (reads && any_step(Purpose::update, reads_beta)) || any_step(Purpose::overlap, reads_beta);
}

std::optional<double> write_reach(const Foundation& foundation, const Trace& trace, Index token) {
  const Sequence& sequence = foundation.sequence;
  if (!erases_by_beta(trace) || !sequence.has("beta") || sequence.has("p")) return std::nullopt;
  if (sequence.at("beta").columns() != 1) return std::nullopt;
  const std::optional<Stability> known = stability_at(*foundation.variant, sequence, token);
  if (!known) return std::nullopt;
  return known->reach;
}

bool WriteReach::operator<(const WriteReach& other) const {
  return is_before(other).value_or(std::tie(form, token) < std::tie(other.form, other.token));
}

std::shared_ptr<const WriteReach::Value> WriteReach::compute(const Effort&) const {
  const std::shared_ptr<const Foundation> foundation = present();
  const auto& trace = foundation->trace(form);
  return std::make_shared<const Value>(trace ? write_reach(*foundation, *trace, token) : std::nullopt);
}

}  // namespace palimpsest
