#pragma once

namespace palimpsest::cuda {

/// Starts a kernel that does nothing but independent multiply-adds, on all of the first device; returns how
/// many FLOPs that are, two for each. `seen` is an address for a number that is never written.
template <class Scalar>
double multiply_adds(double* seen);

/// The same in matrix products of tensor cores, of bf16 with sums in f32.
double bf16_multiply_adds(double* seen);

/// And of tf32 with sums in f32.
double tf32_multiply_adds(double* seen);

/// As many bf16 products with sums in f32 as the tensor cores can do: multiplies for some milliseconds and
/// says how many operations these were. Compute capability 9.0 only.
double hopper_multiply_adds(double* seen);

}  // namespace palimpsest::cuda
