#pragma once

#include <string>

namespace palimpsest {

/// `value` with so many significant digits, "3.6", and as a whole number from there to 100,000: "102", not
/// "1e+02".
std::string plain_number(double value, int digits);

}  // namespace palimpsest
