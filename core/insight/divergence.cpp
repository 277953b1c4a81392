#include "core/insight/divergence.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/engines/recurrent.h"
#include "core/insight/learning.h"
#include "core/insight/tokens_done.h"
#include "core/rules/row_map.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

namespace {

/// The norm of what a step would write into an empty memory.
double written(const InnerProblem& problem) {
  InnerProblem alone = problem;
  alone.momentum = 0;
  for (Matrix<double>& matrix : alone.at) matrix.setZero();
  alone.from = alone.at;
  return norm(alone.after().weights);
}

/// What is compared with it: what the steps so far have written. The problems of one batch replace each
/// other.
class Reachable {
 public:
  void add(Index group, double amount) {
    if (group != group_) earlier_ += std::exchange(latest_, 0);
    group_ = group;
    latest_ = amount;
  }
  double total() const { return earlier_ + latest_; }

 private:
  Index group_ = -1;
  double earlier_ = 0;
  double latest_ = 0;
};

double norm_of(const NamedStates& states) {
  double length = 0;
  for (const auto& [name, state] : states) length = std::hypot(length, state.stableNorm());
  return length;
}

/// The first step up to `last` that multiplies some direction by more than 1.
void find_cause(const Variant& variant, const Sequence& sequence, Index last, Divergence& found,
                std::stop_token stop) {
  constexpr double rounding = 1e-9;
  bool blamed = false;
  visit_problems(
      variant, sequence,
      [&](const InnerContext& context, const std::vector<InnerProblem>& problems, const NamedStates&) {
        const Index token = context.token;
        for (const InnerProblem& problem : problems) {
          if (problem.muon) continue;
          const std::optional<Stability> step = learn(problem).stability;
          if (!step || !(step->growth > 1 + rounding)) continue;
          blamed = true;
          found.cause_token = token;
          found.eigenvalue = step->eigenvalue;
          const bool overshoots = step->eigenvalue < -1;
          found.cause = overshoots ? Cause::overshoots : Cause::grows;
          if (!overshoots && step->eigenvalue <= 1) found.eigenvalue = step->growth;
          found.words =
              overshoots
                  ? fmt::format(
                        "learning rate times curvature is {:.3g} at token {}, more than {:.3g}: the step "
                        "lands beyond its target by more than it had missed it",
                        step->reach, token, (1 + problem.kept) * (1 + problem.momentum))
                  : fmt::format("the step of token {} multiplies a direction of the memory by {:.3g}", token,
                                found.eigenvalue);
          return false;
        }
        return token < last;
      },
      std::move(stop));
  if (blamed) return;
  found.cause_token = found.token;
  found.eigenvalue = 1;
  found.cause = std::isfinite(found.norm) ? Cause::together : Cause::overflow;
  found.words = found.cause == Cause::overflow
                    ? fmt::format("the numbers of token {} leave the range of doubles", found.token)
                    : "no step by itself leaves its stable band: they grow one after the other";
}

bool ran_away(double length, double reachable, double factor) {
  return !std::isfinite(length) || length > factor * reachable;
}

/// The norm of what a row would write into an empty memory.
double written(const Program<double>& row) {
  const double beta = row.structure.beta ? row.beta(0, 0) : 1;
  double length = row.structure.writes_value ? std::abs(beta) * norm({row.k}) * norm({row.v}) : 0;
  if (row.structure.plain_write) length += norm({row.k_plain}) * norm({row.v_plain});
  return length;
}

/// Where a row program with one state runs away, without its cause: many times quicker than by its problems.
std::optional<Divergence> runaway_of_rows(const RowRule& rule, const Sequence& sequence, double factor,
                                          const std::stop_token& stop, const TokensDone& done) {
  std::optional<Divergence> found;
  double reachable = norm({rule.initial_state<double>(sequence)});
  const auto visit = [&](Index token, bool is_last, const Program<double>& row, Matrix<double>& S) {
    reachable += written(row);
    recurrent(row, S);
    if (!is_last) return true;
    done.tell(token + 1);
    const double now = norm({S});
    if (ran_away(now, reachable, factor)) found = {.token = token, .norm = now, .reachable = reachable};
    return !found;
  };
  walk_rows(rule, sequence, visit, stop);
  return found;
}

/// The same of any other rule with weights.
std::optional<Divergence> runaway(const Variant& variant, const Sequence& sequence, double factor,
                                  const std::stop_token& stop, const TokensDone& done) {
  std::optional<Divergence> found;
  Reachable reachable;
  std::optional<double> start;
  visit_problems(
      variant, sequence,
      [&](const InnerContext& context, const std::vector<InnerProblem>& problems, const NamedStates& states) {
        done.tell(context.token + 1);
        if (states == context.before) return true;  // inside a batch whose step comes at its end
        const Index token = context.token;
        double now = norm_of(states);
        if (problems.empty()) {
          const StoredPairs pair = stored_pairs(variant, sequence, token, 1);
          if (!start) start = norm_of(context.before);
          reachable.add(token, norm({pair.keys}) * norm({pair.values}));
        } else {
          if (!start) start = norm(problems.front().from);
          double writes = 0;
          for (const InnerProblem& problem : problems) writes += written(problem);
          reachable.add(problems.front().first_token, writes);
          if (std::isfinite(now)) now = norm(problems.back().after().weights);
        }
        const double limit = *start + reachable.total();
        if (ran_away(now, limit, factor)) found = {.token = token, .norm = now, .reachable = limit};
        return !found;
      },
      stop);
  return found;
}

}  // namespace

std::optional<Divergence> divergence(const Variant& variant, const Sequence& sequence, double factor,
                                     std::stop_token stop, const std::function<void(double)>& progress) {
  if (!(factor >= 1)) throw InputError(fmt::format("the factor is {}; expected at least 1", factor));
  const RowRule* const rows = variant.rule->row_program();
  const bool has_one_state = rows && rows->structure(sequence).parts.empty();
  const TokensDone done(sequence.tokens, progress);
  std::optional<Divergence> found = has_one_state ? runaway_of_rows(*rows, sequence, factor, stop, done)
                                                  : runaway(variant, sequence, factor, stop, done);
  if (found) find_cause(variant, sequence, found->token, *found, stop);
  return found;
}

}  // namespace palimpsest
