#pragma once

#include "core/program.h"
#include "core/recorder.h"

namespace palimpsest {

/// One chunk of engine 2, spec 2.3: all rows of `program` at once. Advances `state` [K, V] to the chunk's end
/// and returns the outputs [L, V] (no rows where the output reads the final state). With erase the rows of
/// the chunk are coupled by a unit lower triangular system, solved by forward substitution.
template <class Scalar>
Matrix<Scalar> chunk(const Program<Scalar>& program, Matrix<Scalar>& state, Recorder* recorder = nullptr);

/// How many [L, L] matrices chunk() holds at the same time.
double chunk_matrices(const Structure& structure);

}  // namespace palimpsest
