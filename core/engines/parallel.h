#pragma once

#include <stop_token>

#include "core/base/record.h"
#include "core/operator/program.h"

namespace palimpsest {

/// Engine 3, spec 1.2 eq. P: the whole sequence as one dense lower triangular problem with two [n, n]
/// matrices. Shares no code with the chunkwise engine: scores by one running product per pair, solve by
/// Eigen. Advances `state` and returns the outputs [n, V], for a read at the end too. `recorder` also
/// receives every tensor. Throws Cancelled when asked to stop.
template <class Scalar>
Matrix<Scalar> parallel(const Program<Scalar>& program, Matrix<Scalar>& state, Recorder* recorder = nullptr,
                        const std::stop_token& stop = {});

/// How many [n, n] matrices parallel() holds at the same time.
double parallel_matrices(const Structure& structure);

}  // namespace palimpsest
