#pragma once

#include "core/operator/program.h"

// The three engines of row programs.

namespace palimpsest {

/// Engine 1, spec 2.2: one row at a time. Advances `state` [K, V] over all rows and returns the outputs [R,
/// V] (no rows where the output reads the final state: q S then gives them). `recorder`, if any, receives
/// every tensor of the last row.
template <class Scalar>
Matrix<Scalar> recurrent(const Program<Scalar>& program, Matrix<Scalar>& state, Recorder* recorder = nullptr);

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

/// The second pass, independent for every chunk: the outputs [R, V] from the state before the chunk and what
/// its rows write.
template <class Scalar>
Matrix<Scalar> chunk_outputs(const Program<Scalar>& program, const Matrix<Scalar>& state_before,
                             const Matrix<Scalar>& U, Recorder* recorder = nullptr);

/// The outputs of rows that write nothing: O = (g o Q) S, [R, V]. Advances `state`, which only decays.
template <class Scalar>
Matrix<Scalar> chunk_answers(const Program<Scalar>& program, Matrix<Scalar>& state);

/// How many [L, L] matrices chunk() holds at the same time.
double chunk_matrices(const Structure& structure);

/// Engine 3, spec 1.2 eq. P: the whole sequence as one dense lower triangular problem with two [n, n]
/// matrices. Shares no code with the chunkwise engine: scores by one running product per pair, solve by
/// Eigen. Advances `state` and returns the outputs [n, V], also where the output reads the final state.
/// `recorder`, if any, receives every tensor. Throws Cancelled when asked to stop.
template <class Scalar>
Matrix<Scalar> parallel(const Program<Scalar>& program, Matrix<Scalar>& state, Recorder* recorder = nullptr,
                        const std::stop_token& stop = {});

/// How many [n, n] matrices parallel() holds at the same time.
double parallel_matrices(const Structure& structure);

}  // namespace palimpsest
