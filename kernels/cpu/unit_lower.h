#pragma once

#include "core/base/matrix.h"

namespace palimpsest::cpu {

/// Rows that are solved one after the other.
inline constexpr Index unit_block = 16;

/// U <- (I + N)^-1 U with N [L, L] and U [L, V]; of N only what is below the diagonal is read. Rows of N lie
/// `N_stride` numbers apart, those of U `U_stride`.
void solve_unit_lower(Index L, Index V, const float* N, Index N_stride, float* U, Index U_stride);

}  // namespace palimpsest::cpu
