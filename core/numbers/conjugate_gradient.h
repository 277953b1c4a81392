#pragma once

#include "core/base/matrix.h"

namespace palimpsest {

/// How the method of conjugate gradients (Hestenes & Stiefel 1952), begun at 0, comes to the solution of
/// A x = b with A [K, K] symmetric and positive definite: ‖b - A x_i‖ / ‖b‖ for i = 0, 1, ... [1, 1 + steps].
/// It ends after `most` steps, or when the rest is below 1e-12. All of it is 0 for b = 0.
Matrix<double> conjugate_gradient_rests(const Matrix<double>& A, const Vector<double>& b, Index most);

}  // namespace palimpsest
