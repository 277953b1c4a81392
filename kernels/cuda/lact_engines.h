#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "core/engines/lact.h"
#include "kernels/cuda/rounding.h"

namespace palimpsest::cuda {

/// The engines of LaCT on the first device: what their namesakes of core/engines compute and record. Throw
/// Error with CUDA's words.
template <class Scalar>
void lact_gather(const Matrix<Scalar>& K, const Matrix<Scalar>& R, const Vector<Scalar>& eta,
                 Matrix<Scalar>& G, Rounding rounding);
template <class Scalar>
void lact_update(const LactUpdate<Scalar>& update, const Matrix<Scalar>& G, Scalar momentum,
                 Matrix<Scalar>& S, Matrix<Scalar>& M, Recorder* recorder);
template <class Scalar>
LactScan<Scalar> lact_scan(const Matrix<Scalar>& K, const Matrix<Scalar>& V, const Vector<Scalar>& eta,
                           const std::vector<Index>& first, const Vector<Scalar>& momentum,
                           const std::optional<NewtonSchulz>& muon, const Matrix<Scalar>& S_0,
                           const Matrix<Scalar>& M_0, const std::stop_token& stop, Rounding rounding);

/// LactHeads::run(): all heads in one go.
template <class Scalar>
std::vector<Matrix<Scalar>> run_lact(const LactWay& way, std::span<const LactHead<Scalar>> heads,
                                     std::span<Matrix<Scalar>> S, std::span<Matrix<Scalar>> M,
                                     const std::stop_token& stop, Rounding rounding);

}  // namespace palimpsest::cuda
