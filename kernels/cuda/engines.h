#pragma once

#include "core/engines/engines.h"
#include "kernels/cuda/head_matrices.h"

namespace palimpsest {

/// The engines on the first CUDA device for a precision. All hold their numbers as f64 or f32. For bf16 those
/// in f32 round q, k and v on input, and outputs; for tf32 they compute whole heads by the kernels that round
/// the factors of products, or say what is missing, and single steps as in f32.
const DeviceEngines& cuda_engines(Precision precision);

namespace cuda {

/// Why a form that exists cannot run in tf32, for which only special kernels exist; nothing if it can. The
/// number of channels is checked only when it runs.
std::optional<std::string> missing_in_tf32(const Variant& variant, const Settings& settings, Form form);

template <template <class> class Operator, class Scalar>
using OwnedEngine = std::unique_ptr<const Engine<Operator, Scalar>>;

/// The engine of a family with this rounding.
template <template <class> class Operator, class Scalar>
OwnedEngine<Operator, Scalar> make_engine(Rounding rounding);

}  // namespace cuda

}  // namespace palimpsest
