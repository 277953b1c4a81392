#pragma once

#include "kernels/cuda/row_programs.h"

namespace palimpsest {

/// What the last row of the one head makes on its way, for a trace; null: nobody asks.
template <class Scalar>
struct RecurrentTap {
  Scalar* S_before = nullptr;      // [p K, V]
  Scalar* S_moved = nullptr;       // [p K, V], decayed or mixed
  Scalar* old = nullptr;           // [V]
  Scalar* error = nullptr;         // [V]
  Scalar* update = nullptr;        // [K, V]
  Scalar* plain_update = nullptr;  // [K, V]
};

/// Starts the plain kernel of the recurrent form: any structure, any size. The final state must have its own
/// memory or be the initial one. Throws Error with CUDA's words.
template <class Scalar>
void recurrent_rows(const RowPrograms<Scalar>& programs, const RecurrentTap<Scalar>& tap = {});

}  // namespace palimpsest
