#pragma once

#include <complex>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/matrix.h"
#include "core/contract/variant.h"
#include "core/rules/inner_problem.h"

namespace palimpsest {

/// The eigenvalues of the preconditioned Hessian of a problem in one matrix S; those of columns that fade
/// alike once, and 0 alone where nothing bends. Nothing where the Hessian depends on the weights.
std::optional<std::vector<std::complex<double>>> hessian_eigenvalues(const InnerProblem& problem);

/// By how much every step multiplies errors along an eigenvector of the Hessian: the larger root z of z^2 -
/// (kept - x + momentum) z + kept momentum = 0, x = rate eigenvalue (heavy ball).
double growth(const InnerProblem& problem, std::complex<double> eigenvalue);

/// The largest rate that keeps the growth along an eigenvector within 1: (1 + kept)(1 + momentum) /
/// eigenvalue for a real one; infinite where nothing bends, 0 where the loss has no minimum along it.
double largest_stable_rate(const InnerProblem& problem, std::complex<double> eigenvalue);

/// How strongly every token writes into a memory.
struct WriteStrengths {
  std::string rate = {};    // the strength is rate |k|^2, and this its name: of "beta", 1 is a write that
                            // puts v in the place of the old answer; empty: |k| |v|, the length of what
                            // a rule without a rate adds
  std::string symbol = {};  // and its LaTeX
  Vector<double> of_token = {};  // [T]; of several steps of a token the last
};

/// Those of one head, from its own numbers alone. Throws Unsupported where no memory answers, Cancelled.
WriteStrengths write_strengths(const Variant& variant, const Sequence& sequence, std::stop_token stop = {});

/// How far every token steps: its learning rate times the curvature of its loss, beta |k|^2 of one pair.
struct StepReach {
  Vector<double> reach = {};    // [T]; of the last step where a token takes several
  Vector<double> squares = {};  // [T]: what the rate, the number of `array`, is multiplied with
  std::string array = {};       // the input that sets it ("beta", "theta", "eta"); empty: nothing does
  std::string symbol = {};    // LaTeX of the rate: of that input, or of what the rule makes of it, "\\delta"
  bool is_network = false;    // the curvature is that along the gradient, and no |k|^2
  bool has_edge = false;      // whether the step erases: it lands on its target at 1, farther off above 2
  bool has_momentum = false;  // then it diverges elsewhere: what steps before have moved goes on
};

/// Throws Unsupported where tokens share no memory, Cancelled.
StepReach step_reach(const Variant& variant, const Sequence& sequence, std::stop_token stop = {});

/// The input with one row per token that sets how far a token steps; nothing where a rule has none.
std::optional<std::string> strength_array(const Variant& variant);

/// LaTeX of the rate of this name, an input or what a row program makes of one, without its token: "\\beta".
std::string rate_symbol(const Variant& variant, const Settings& settings, const std::string& name);

/// The first tokens that step beyond the edges of their losses (StepReach::reach).
struct ReachEdges {
  std::optional<Index> overshoots = {};  // beyond 1: past its word, on the far side
  std::optional<Index> diverges = {};    // beyond 2: farther from its word than it began
};

/// Keys of unit length are so but for the rounding of f32: what is within 1e-6 of an edge is not beyond it.
inline ReachEdges reach_edges(const Vector<double>& reach) {
  constexpr double rounding = 1e-6;
  const auto first_beyond = [&](double edge) -> std::optional<Index> {
    for (Index t = 0; t < reach.size(); ++t) {
      if (!(reach[t] <= edge + rounding)) return t;
    }
    return std::nullopt;
  };
  return {first_beyond(1), first_beyond(2)};
}

/// Why a state ran away.
enum class Cause {
  overshoots,  // an eigenvalue below -1: beta |k|^2 > 2, every step lands beyond its target by more than it
               // missed
  grows,       // an eigenvalue above 1: the step moves away from its target
  overflow,    // every step is stable, but the numbers left the range of doubles
  together,    // no step by itself: only one after the other
};

struct Divergence {
  Index token = 0;       // the first whose step leaves a state that ran away
  double norm = 0;       // of the weights after it; may be infinite or NaN
  double reachable = 0;  // what stable steps could have added up to
  Cause cause = Cause::together;
  Index cause_token = 0;  // the first token with such a step
  double eigenvalue = 0;  // of that step; its modulus where it is complex
  std::string words = {};
};

/// The first token at which the weights run away: their norm is not finite or exceeds `factor` times what
/// steps with eigenvalues in [-1, 1] could have made of them, the norm at the start plus that of all that was
/// written since into an empty memory. Throws InputError unless factor >= 1, Unsupported where the rule keeps
/// no weights, Cancelled.
std::optional<Divergence> divergence(const Variant& variant, const Sequence& sequence, double factor = 10,
                                     std::stop_token stop = {},
                                     const std::function<void(double)>& progress = {});

}  // namespace palimpsest
