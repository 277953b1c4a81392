#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "core/base/record.h"
#include "core/engines/mamba.h"
#include "kernels/cuda/rounding.h"

namespace palimpsest::cuda {

/// The engines of Mamba on the first device: what their namesakes of core/engines compute and record. Throw
/// Error with CUDA's words.
template <class Scalar>
Matrix<Scalar> mamba_recurrent(const MambaRows<Scalar>& rows, Matrix<Scalar>& S, Recorder* recorder,
                               Rounding rounding);
template <class Scalar>
Matrix<Scalar> mamba_scan(const MambaRows<Scalar>& rows, Matrix<Scalar>& S, Recorder* recorder,
                          const std::stop_token& stop, Rounding rounding);

/// MambaHeads::run(): all heads in one go.
template <class Scalar>
std::vector<Matrix<Scalar>> run_mamba(Form form, std::span<const MambaRows<Scalar>> heads, Index chunk_size,
                                      std::span<Matrix<Scalar>> states, const std::stop_token& stop,
                                      Rounding rounding);

}  // namespace palimpsest::cuda
