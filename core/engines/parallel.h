#pragma once

#include "core/program.h"
#include "core/recorder.h"

namespace palimpsest {

/// Engine 3, spec 1.2 eq. P: the whole sequence as one dense lower triangular problem with two [n, n] matrices.
/// `recorder` also receives every tensor. Shares no code with the chunkwise engine: scores by one running product per pair, solve by Eigen. Advances `state`
/// and returns the outputs [n, V], for a read at the end too.
template <class Scalar>
Matrix<Scalar> parallel(const Program<Scalar>& program, Matrix<Scalar>& state, Recorder* recorder = nullptr);

/// Bytes that parallel() needs for its [n, n] matrices.
double parallel_bytes(const Structure& structure, Index tokens, Precision precision);

}  // namespace palimpsest
