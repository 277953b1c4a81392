#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "core/engines/mesanet.h"
#include "kernels/cuda/rounding.h"

namespace palimpsest::cuda {

/// The engines of MesaNet on the first device: what their namesakes of core/engines compute and record. Throw
/// Error with CUDA's words, Cancelled when asked to stop.
template <class Scalar>
Matrix<Scalar> mesa_recurrent(const MesaRows<Scalar>& rows, MesaState<Scalar>& H, Recorder* recorder,
                              Rounding rounding);
template <class Scalar>
Matrix<Scalar> mesa_chunk(const MesaRows<Scalar>& rows, MesaState<Scalar>& H, Recorder* recorder,
                          const std::stop_token& stop, Rounding rounding);
template <class Scalar>
Matrix<Scalar> mesa_parallel(const MesaRows<Scalar>& rows, MesaState<Scalar>& H, Recorder* recorder,
                             const std::stop_token& stop, Rounding rounding);

/// MesaHeads::run(): all heads in one go.
template <class Scalar>
std::vector<Matrix<Scalar>> run_mesa(Form form, std::span<const MesaRows<Scalar>> heads, Index chunk_size,
                                     std::span<MesaState<Scalar>> states, const std::stop_token& stop,
                                     Rounding rounding);

}  // namespace palimpsest::cuda
