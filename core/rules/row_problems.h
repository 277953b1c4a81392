#pragma once

#include <vector>

#include "core/rules/inner_problem.h"

namespace palimpsest {

/// Inner problems of row programs with one state (spec 1.1), for InnerLoss::problems: one per row of the
/// token, each at the state that the row before it left. The weights are the states side by side: S, or [S |
/// z] where a rule is normalised.

/// -<S^T k, v> + 1/2 |sqrt(1 - decay) o S|^2 at S_{t-1}, learning rate 1 (spec 3.2 to 3.4, 3.8): rules that
/// erase nothing.
std::vector<InnerProblem> dot_problems(const InnerContext& context);

/// 1/2 |S^T k - v|^2 at the decayed state, learning rate beta (spec 3.5 to 3.8, 3.13): the delta family.
std::vector<InnerProblem> squared_problems(const InnerContext& context);

/// d/2 |S^T k|^2 - <S^T k, v> where the erase key is a = d k, learning rate beta, at the decayed state; or at
/// S_{t-1}, times beta and with the pull of the decay towards zero, learning rate 1, where the erase reads
/// that (spec 3.13). Throws Unsupported where a is no multiple of k: the step is then no gradient.
std::vector<InnerProblem> erase_key_problems(const InnerContext& context);

/// -<S^T k, v> + 1/2 |Diag(sqrt(1 - alpha)) S|^2 + 1/2 |S^T a|^2 at S_{t-1}, learning rate 1, the last term
/// preconditioned by Diag(b / a): a step that erases with a, takes out along b and writes k v^T (spec 3.13).
/// Throws Unsupported where b has a channel that a lacks.
std::vector<InnerProblem> preconditioned_problems(const InnerContext& context);

}  // namespace palimpsest
