#include "core/numbers/arithmetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace palimpsest {

namespace {

constexpr std::array<NumberFormat, std::size(all_arithmetics)> table = {{
    {53, -1022, std::numeric_limits<double>::max(), "f64"},
    {24, -126, std::numeric_limits<float>::max(), "f32"},
    {11, -126, 0x1.ffcp127, "tf32"},
    {8, -126, 0x1.fep127, "bf16"},
    {11, -14, 65504, "f16"},
}};

}  // namespace

const char* name(Arithmetic arithmetic) { return format_of(arithmetic).name; }

const NumberFormat& format_of(Arithmetic arithmetic) { return entry(table, arithmetic); }

double smallest(Arithmetic arithmetic) {
  const NumberFormat& format = format_of(arithmetic);
  return std::ldexp(1, format.min_exponent - (format.precision - 1));
}

double rounded(double x, Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::f64 || x == 0 || !std::isfinite(x)) return x;
  const auto& [precision, min_exponent, largest, called] = format_of(arithmetic);
  // The last place of x in this format; below the normal numbers it no longer gets finer.
  const int last_place = std::max(std::ilogb(x), min_exponent) - (precision - 1);
  const double nearest = std::ldexp(std::nearbyint(std::ldexp(x, -last_place)), last_place);
  if (std::abs(nearest) <= largest) return nearest;
  return std::copysign(std::numeric_limits<double>::infinity(), x);
}

Matrix<double> rounded(const Matrix<double>& values, Arithmetic arithmetic) {
  return values.unaryExpr([arithmetic](double x) { return rounded(x, arithmetic); });
}

Arrays rounded(const Arrays& arrays, Arithmetic arithmetic) {
  Arrays result;
  for (const auto& [name, array] : arrays)
    result[name] = mapped<double>(array, [&](double x) { return rounded(x, arithmetic); });
  return result;
}

}  // namespace palimpsest
