#pragma once

#include <complex>
#include <optional>
#include <vector>

#include "core/rules/inner_problem.h"

namespace palimpsest {

/// The eigenvalues of the preconditioned Hessian of a problem in one matrix S; those of columns that fade
/// alike once, and 0 alone where nothing bends. Nothing where the Hessian depends on the weights.
std::optional<std::vector<std::complex<double>>> hessian_eigenvalues(const InnerProblem& problem);

/// By how much the errors along an eigenvector of the Hessian are multiplied by every step: the larger root z
/// of z^2 - (kept - x + momentum) z + kept momentum = 0, x = rate eigenvalue (heavy ball; without momentum
/// kept - x).
double growth(const InnerProblem& problem, std::complex<double> eigenvalue);

/// The largest rate that keeps the growth along an eigenvector within 1: (1 + kept)(1 + momentum) /
/// eigenvalue for a real one; infinite where nothing bends, 0 where the loss has no minimum along it.
double largest_stable_rate(const InnerProblem& problem, std::complex<double> eigenvalue);

}  // namespace palimpsest
