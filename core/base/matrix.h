#pragma once

#include <Eigen/Core>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace palimpsest {

using Index = Eigen::Index;

/// `list[place]`, where the place is an Index (signed) or an enumerator.
template <class List, class Place>
constexpr decltype(auto) entry(List&& list, Place place) {
  return list[static_cast<std::size_t>(place)];
}

/// Row-major everywhere: row t of a matrix is token t, contiguous in memory.
template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The same numbers in f64; moved, not copied, where they are already.
template <class Scalar>
Matrix<double> in_f64(Matrix<Scalar> matrix) {
  if constexpr (std::is_same_v<Scalar, double>)
    return matrix;
  else
    return matrix.template cast<double>();
}

/// A column vector.
template <class Scalar>
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

/// A row vector: one token of a [T, D] matrix.
template <class Scalar>
using RowVector = Eigen::Matrix<Scalar, 1, Eigen::Dynamic>;

/// The number format that an engine computes with. In bf16, q, k, v and the outputs are bf16; states, gates
/// and sums are f32. In tf32 all of these are f32 in memory, and matrix products take factors rounded
/// to tf32.
enum class Precision { f64, f32, tf32, bf16 };

/// How a variant is computed.
enum class Form {
  recurrent,
  chunkwise,  // chunk by chunk: its outputs, then the state for the next one
  two_pass,   // the other schedule: first the states of all chunks, then all outputs
  parallel,
};

inline constexpr Form all_forms[] = {Form::recurrent, Form::chunkwise, Form::two_pass, Form::parallel};

constexpr bool has_chunks(Form form) { return form == Form::chunkwise || form == Form::two_pass; }

inline constexpr Precision all_precisions[] = {Precision::f64, Precision::f32, Precision::tf32,
                                               Precision::bf16};

/// The precisions with a Scalar type of their own, in which rules compute.
inline constexpr Precision scalar_precisions[] = {Precision::f64, Precision::f32};

/// The scalar precision that holds numbers of `precision` in memory.
constexpr Precision held_in(Precision precision) {
  return precision == Precision::f64 ? Precision::f64 : Precision::f32;
}

/// The precision in which q, k and v are given for `precision`.
constexpr Precision given_in(Precision precision) {
  return precision == Precision::tf32 ? Precision::f32 : precision;
}

/// The names as the command line and the files spell them.
const char* name(Form form);
const char* name(Precision precision);

/// The largest magnitude among the finite entries; 0 if there are none.
double largest_finite(const Matrix<double>& x);

/// States by the names of Variant::states; vectors are [D, 1].
using NamedStates = std::vector<std::pair<std::string, Matrix<double>>>;

}  // namespace palimpsest
