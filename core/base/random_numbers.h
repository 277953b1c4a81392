#pragma once

#include <cstdint>
#include <random>
#include <string_view>

#include "core/base/matrix.h"

namespace palimpsest {

/// Random numbers by arithmetic alone: the distributions of <random> differ between libraries.
class RandomNumbers {
 public:
  /// A stream of its own for every array, so that one more array leaves the others as they are.
  RandomNumbers(std::uint64_t seed, std::string_view name) : bits_(seed) {
    for (const char letter : name) bits_.seed(bits_() ^ static_cast<unsigned char>(letter));
  }

  /// [0, 1).
  double uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }

  /// About N(0, 1): the sum of twelve uniform numbers has variance 1.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

  /// A matrix of normal numbers, row by row.
  Matrix<double> normal(Index rows, Index columns) {
    Matrix<double> numbers(rows, columns);
    for (double& number : numbers.reshaped<Eigen::RowMajor>()) number = normal();
    return numbers;
  }

 private:
  std::mt19937_64 bits_;
};

}  // namespace palimpsest
