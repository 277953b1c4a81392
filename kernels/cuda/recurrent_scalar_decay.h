#pragma once

#include "kernels/cuda/row_programs.h"

namespace palimpsest {

/// The most key channels that recurrent_scalar_decay() holds.
inline constexpr std::int64_t recurrent_scalar_decay_largest_K = 896;

/// Starts the fast kernel of the recurrent form for programs with no decay or one per token, alpha itself,
/// with or without erase by k. Throws Error with CUDA's words.
template <class Scalar>
void recurrent_scalar_decay(const RowPrograms<Scalar>& programs);

}  // namespace palimpsest
