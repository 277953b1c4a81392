#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "core/base/record.h"
#include "core/engines/least_squares.h"
#include "kernels/cuda/rounding.h"

namespace palimpsest::cuda {

/// The engines of recursive least squares on the first device: what their namesakes of core/engines compute
/// and record. Throw Error with CUDA's words.
template <class Scalar>
Matrix<Scalar> least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Matrix<Scalar>& P,
                                   Recorder* recorder, Rounding rounding);
template <class Scalar>
Matrix<Scalar> solved_least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Matrix<Scalar>& P,
                                          const std::stop_token& stop, Rounding rounding);

/// LeastSquaresHeads::run(): all heads in one go.
template <class Scalar>
std::vector<Matrix<Scalar>> run_gains(std::span<const LeastSquaresKeys<Scalar>> heads, bool solved,
                                      std::span<Matrix<Scalar>> P, const std::stop_token& stop,
                                      Rounding rounding);

}  // namespace palimpsest::cuda
