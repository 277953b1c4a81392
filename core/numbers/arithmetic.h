#pragma once

#include "core/base/array.h"

namespace palimpsest {

/// The binary formats of intermediate numbers in a form. All round to nearest, ties to even,
/// keep subnormal numbers, and overflow to infinity (IEEE 754; bf16 is f32 with 8 bits of precision, tf32
/// with 11; a GPU's own conversion to tf32, cvt.rna, differs in one thing: halves go away from 0).
enum class Arithmetic { f64, f32, tf32, bf16, f16 };

inline constexpr Arithmetic all_arithmetics[] = {Arithmetic::f64, Arithmetic::f32, Arithmetic::tf32,
                                                 Arithmetic::bf16, Arithmetic::f16};

/// "f64", "f32", "tf32", "bf16", "f16".
const char* name(Arithmetic arithmetic);

/// The format of the rows of factors in a precision.
constexpr Arithmetic arithmetic_of(Precision precision) { return static_cast<Arithmetic>(precision); }
static_assert(arithmetic_of(Precision::bf16) == Arithmetic::bf16);  // in the same order

/// What a format holds.
struct NumberFormat {
  int precision;     // significant bits, the leading one included
  int min_exponent;  // the smallest normal number is 2^min_exponent
  double largest;    // the largest finite number
  const char* name;
};
const NumberFormat& format_of(Arithmetic arithmetic);

/// The smallest number above 0 of a format, a subnormal one.
double smallest(Arithmetic arithmetic);

/// The number of the format that is nearest to `x`, of two equally near the one whose last bit is 0. What
/// would round beyond the largest becomes infinite; infinities and NaN stay what they are.
double rounded(double x, Arithmetic arithmetic);

/// Every element rounded.
Matrix<double> rounded(const Matrix<double>& values, Arithmetic arithmetic);
Arrays rounded(const Arrays& arrays, Arithmetic arithmetic);

}  // namespace palimpsest
