#include "core/proof/fault_run.h"

#include <utility>

namespace palimpsest {

namespace {

/// Whether equations with a fault in them give just what the right ones give, which are off themselves.
bool is_no_change(Trace& trace, const Output& faulty, const std::stop_token& stop) {
  const Comparison right = compare_steps(trace, {trace.phases, trace.symbols}, step_tolerance, stop);
  return right.departure && compare(faulty, right.output).error == 0;
}

}  // namespace

std::optional<FaultRun> run_with(const Fault& fault, Trace& trace,
                                 const std::function<Judgement(const Output&)>& judge, std::stop_token stop) {
  const std::optional<Equations> faulty = with_fault(fault, {trace.phases, trace.symbols});
  if (!faulty) return std::nullopt;
  Comparison comparison = compare_steps(trace, *faulty, step_tolerance, stop);
  FaultRun run{.departure = std::move(comparison.departure),
               .output = std::move(comparison.output),
               .message = std::move(comparison.message)};
  if (!run.message.empty()) return run;
  run.judgement = judge(run.output);
  // Where rounding is amplified, the right equations depart from the engine as well.
  if (run.departure && run.judgement.passed() && is_no_change(trace, run.output, stop)) run.departure = {};
  return run;
}

}  // namespace palimpsest
