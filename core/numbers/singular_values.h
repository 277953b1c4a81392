#pragma once

#include "core/base/matrix.h"

namespace palimpsest {

/// The singular values of X [L, M], L <= M, largest first: [L].
Vector<double> singular_values(const Matrix<double>& X);

}  // namespace palimpsest
