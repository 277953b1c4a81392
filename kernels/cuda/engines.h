#pragma once

#include "core/engines/engines.h"
#include "kernels/cuda/head_matrices.h"

namespace palimpsest {

/// The engines on the first CUDA device for a precision. All hold their numbers as f64 or f32; for bf16 those
/// in f32 round rows of q, k and v as they come, and outputs as they go; for tf32 they compute whole heads by
/// the kernels that round the factors of products, or say what is missing, and single steps as f32 does.
const DeviceEngines& cuda_engines(Precision precision);

namespace cuda {

/// Why a form that exists is not computed in tf32, which its own kernels alone do; nothing where they do. How
/// many channels there are is known only when it runs.
std::optional<std::string> missing_in_tf32(const Variant& variant, const Settings& settings, Form form);

template <template <class> class Operator, class Scalar>
using OwnedEngine = std::unique_ptr<const Engine<Operator, Scalar>>;

/// The engine of a family, whose rows are rounded so.
template <template <class> class Operator, class Scalar>
OwnedEngine<Operator, Scalar> make_engine(Rounding rounding);

}  // namespace cuda

}  // namespace palimpsest
