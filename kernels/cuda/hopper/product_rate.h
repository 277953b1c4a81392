#pragma once

namespace palimpsest::cuda {

/// As many bf16 products with sums in f32 as the tensor cores can do: multiplies for some milliseconds and
/// says how many operations these were. Compute capability 9.0 only.
double hopper_multiply_adds(double* seen);

}  // namespace palimpsest::cuda
