#pragma once

#include "core/base/record.h"
#include "core/operator/program.h"

namespace palimpsest {

/// Engine 1, spec 2.2: one row at a time. Advances `state` [K, V] over all rows and returns the outputs [R,
/// V] (no rows where the output reads the final state: q S then gives them). `recorder`, if any, receives
/// every tensor of the last row.
template <class Scalar>
Matrix<Scalar> recurrent(const Program<Scalar>& program, Matrix<Scalar>& state, Recorder* recorder = nullptr);

}  // namespace palimpsest
