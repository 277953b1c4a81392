#include "core/base/plain_number.h"

#include <fmt/format.h>

#include <cmath>

namespace palimpsest {

std::string plain_number(double value, int digits) {
  const double size = std::abs(value);
  const bool is_whole = size >= std::pow(10, digits) - 0.5 && size < 1e5 - 0.5;
  return is_whole ? fmt::format("{:.0f}", value) : fmt::format("{:.{}g}", value, digits);
}

std::string fixed_number(double value, int decimals) {
  const double last = std::pow(10, -decimals);
  if (std::abs(value) < last / 2) value = 0;
  const bool is_short = std::abs(value) < 1e5 - last / 2;
  return is_short ? fmt::format("{:.{}f}", value, decimals) : fmt::format("{:.1e}", value);
}

std::string share_of_one(double value) {
  if (value == 0 || value == 1) return fmt::format("{:.0f}", value);
  if (value < 0.995) return fmt::format("{:.2f}", value).substr(1);
  return value < 0.9995 ? fmt::format("{:.3f}", value).substr(1) : "<1";
}

}  // namespace palimpsest
