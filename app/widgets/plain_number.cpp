#include "app/widgets/plain_number.h"

#include <fmt/format.h>

#include <cmath>

namespace palimpsest {

std::string plain_number(double value, int digits) {
  const double size = std::abs(value);
  const bool is_whole = size >= std::pow(10, digits) - 0.5 && size < 1e5 - 0.5;
  return is_whole ? fmt::format("{:.0f}", value) : fmt::format("{:.{}g}", value, digits);
}

}  // namespace palimpsest
