#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "core/base/record.h"
#include "core/engines/inner_network.h"
#include "kernels/cuda/rounding.h"

namespace palimpsest::cuda {

/// InnerNetwork::primal() and dual() on the first device. Throw Error with CUDA's words.
template <class Scalar>
Matrix<Scalar> network_primal(const InnerNetwork<Scalar>& network, const NetworkRows<Scalar>& token,
                              Carried<Scalar>& carried, Recorder* recorder, Rounding rounding);
template <class Scalar>
Matrix<Scalar> network_dual(const InnerNetwork<Scalar>& network, const NetworkRows<Scalar>& rows,
                            Carried<Scalar>& carried, Recorder* recorder, Rounding rounding);

/// NetworkHeads::run(): all heads in one go.
template <class Scalar>
std::vector<Matrix<Scalar>> run_networks(Form form, std::span<const InnerNetwork<Scalar>> networks,
                                         std::span<const NetworkRows<Scalar>> heads,
                                         const InnerBatches& pieces, std::span<Carried<Scalar>> carried,
                                         const std::stop_token& stop, Rounding rounding);

}  // namespace palimpsest::cuda
