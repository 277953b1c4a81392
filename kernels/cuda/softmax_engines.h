#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/engines/engines.h"
#include "kernels/cuda/rounding.h"

namespace palimpsest::cuda {

/// The engines of causal softmax attention on the first device: what their namesakes of core/engines compute
/// and record. Throw Error with CUDA's words.
template <class Scalar>
RowVector<Scalar> softmax_stream(const RowVector<Scalar>& q, const Matrix<Scalar>& K, const Matrix<Scalar>& V,
                                 Recorder* recorder, const Matrix<Scalar>& bias, Rounding rounding);
template <class Scalar>
void softmax_tile(const Matrix<Scalar>& Q, const Matrix<Scalar>& K, const Matrix<Scalar>& V,
                  Index first_query, Index first_key, SoftmaxState<Scalar>& state, Recorder* recorder,
                  const Matrix<Scalar>& bias, Rounding rounding);
template <class Scalar>
Matrix<Scalar> softmax_dense(const Matrix<Scalar>& Q, const Matrix<Scalar>& K, const Matrix<Scalar>& V,
                             Index first_query, Recorder* recorder, const Matrix<Scalar>& bias,
                             Rounding rounding);

/// Y / l: what a finished row of tiles gives, [L, V].
template <class Scalar>
Matrix<Scalar> softmax_output(const SoftmaxState<Scalar>& state, Rounding rounding);

/// SoftmaxHeads::run(): all heads in one go.
template <class Scalar>
std::vector<Matrix<Scalar>> run_softmax(Form form, std::span<const CachedQueries<Scalar>> heads,
                                        Index chunk_size, const std::stop_token& stop, Rounding rounding);

/// SoftmaxHeads::fused().
template <class Scalar>
std::string fused_softmax(Form form, Index K, Index V, bool fades, Rounding rounding);

}  // namespace palimpsest::cuda
