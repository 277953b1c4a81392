#pragma once

#include "core/base/record.h"
#include "core/operator/program.h"

namespace palimpsest {

/// One chunk of engine 2, spec 2.3: all rows of `program` at once. Advances `state` [K, V] to the chunk's end
/// and returns the outputs [R, V] (no rows where the output reads the final state). With erase the rows of
/// the chunk are coupled by a unit lower triangular system, solved by forward substitution.
template <class Scalar>
Matrix<Scalar> chunk(const Program<Scalar>& program, Matrix<Scalar>& state, Recorder* recorder = nullptr);

/// The same chunk in the two passes of the other schedule. The first: advances `state` to the chunk's end and
/// returns what the rows write, U [L, V] (V itself where nothing is erased).
template <class Scalar>
Matrix<Scalar> chunk_state(const Program<Scalar>& program, Matrix<Scalar>& state,
                           Recorder* recorder = nullptr);

/// The second, which no chunk has to wait for another with: the outputs [R, V] from the state before the
/// chunk and what its rows write.
template <class Scalar>
Matrix<Scalar> chunk_outputs(const Program<Scalar>& program, const Matrix<Scalar>& state_before,
                             const Matrix<Scalar>& U, Recorder* recorder = nullptr);

/// The answers of the state to rows that write nothing: O = (g o Q) S, [R, V]. Advances `state`, which only
/// fades.
template <class Scalar>
Matrix<Scalar> chunk_answers(const Program<Scalar>& program, Matrix<Scalar>& state);

/// How many [L, L] matrices chunk() holds at the same time.
double chunk_matrices(const Structure& structure);

}  // namespace palimpsest
