#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "core/operator/program.h"
#include "kernels/cuda/rounding.h"

namespace palimpsest::cuda {

/// The engines of row programs on the first device: what their namesakes of core/engines compute and record.
/// Throw Error with CUDA's words.
template <class Scalar>
Matrix<Scalar> recurrent(const Program<Scalar>& program, Matrix<Scalar>& S, Recorder* recorder,
                         Rounding rounding);
template <class Scalar>
Matrix<Scalar> chunk(const Program<Scalar>& program, Matrix<Scalar>& S, Recorder* recorder,
                     Rounding rounding);
template <class Scalar>
Matrix<Scalar> chunk_state(const Program<Scalar>& program, Matrix<Scalar>& S, Recorder* recorder,
                           Rounding rounding);
template <class Scalar>
Matrix<Scalar> chunk_outputs(const Program<Scalar>& program, const Matrix<Scalar>& S_before,
                             const Matrix<Scalar>& U, Recorder* recorder, Rounding rounding);
template <class Scalar>
Matrix<Scalar> parallel(const Program<Scalar>& program, Matrix<Scalar>& S, Recorder* recorder,
                        Rounding rounding);

/// RowHeads::run(): all heads in one go, by the fastest kernel that there is for their structure.
template <class Scalar>
std::vector<Matrix<Scalar>> run_rows(Form form, std::span<const Program<Scalar>> heads, Index chunk_size,
                                     std::span<Matrix<Scalar>> states, const std::stop_token& stop,
                                     Rounding rounding);

/// RowHeads::most_bytes(): copies, tables and results of what is given take several times as much again.
double most_bytes_of_rows();

/// RowHeads::fused().
template <class Scalar>
std::string fused_rows(Form form, const Structure& structure, Index K, Rounding rounding);

}  // namespace palimpsest::cuda
