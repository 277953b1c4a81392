#pragma once

#include <string>

namespace palimpsest {

/// `value` with so many significant digits, "3.6", and as a whole number from there to 100,000: "102", not
/// "1e+02".
std::string plain_number(double value, int digits);

/// `value` with so many decimals, "0.67"; a power of ten from 100,000 on: "1.9e+13". No sign before zeros.
std::string fixed_number(double value, int decimals);

/// A share from 0 to 1 in at most four letters, ".97", so that only 1 is written as 1: ".998", "<1".
std::string share_of_one(double value);

}  // namespace palimpsest
