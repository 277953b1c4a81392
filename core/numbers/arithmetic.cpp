#include "core/numbers/arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace palimpsest {

namespace {

struct Named {
  const char* name;
  NumberFormat format;
};

constexpr std::array<Named, std::size(all_arithmetics)> table = {{
    {"f64", {53, -1022, std::numeric_limits<double>::max()}},
    {"f32", {24, -126, std::numeric_limits<float>::max()}},
    {"tf32", {11, -126, 0x1.ffcp127}},
    {"bf16", {8, -126, 0x1.fep127}},
    {"f16", {11, -14, 65504}},
}};

const Named& row(Arithmetic arithmetic) { return table[static_cast<std::size_t>(arithmetic)]; }

}  // namespace

const char* name(Arithmetic arithmetic) { return row(arithmetic).name; }

Arithmetic arithmetic_called(std::string_view name) {
  for (const Arithmetic arithmetic : all_arithmetics) {
    if (row(arithmetic).name == name) return arithmetic;
  }
  throw InputError(fmt::format("there is no arithmetic \"{}\"; expected f64, f32, tf32, bf16 or f16", name));
}

const NumberFormat& format_of(Arithmetic arithmetic) { return row(arithmetic).format; }

double rounded(double x, Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::f64 || x == 0 || !std::isfinite(x)) return x;
  const auto& [precision, min_exponent, largest] = format_of(arithmetic);
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
  for (const auto& [name, array] : arrays) {
    std::vector<double> values(static_cast<std::size_t>(array.size()));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = rounded(array[static_cast<Index>(i)], arithmetic);
    result[name] = Array(array.shape, std::move(values));
  }
  return result;
}

}  // namespace palimpsest
