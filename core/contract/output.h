#pragma once

#include <string_view>

#include "core/base/matrix.h"

namespace palimpsest {

/// The result of one head: its outputs and the states after the last token.
struct Output {
  Matrix<double> o;  // [T, V]
  NamedStates states;
};

/// Where two arrays are furthest apart, as a fraction of the largest element expected: max|X - Y| / max|Y|.
/// 0 if there are no elements or all are equal; infinity if sizes differ, a NaN is found (or an infinity that
/// is not expected, or any in o), or max|Y| is 0 and X is not.
struct Disagreement {
  double error = 0;
  std::string array;  // "o", "final_state", ...
  Index row = 0;      // the token, in o
  Index column = 0;
  double got = 0;
  double expected = 0;
};

/// Where `got` is furthest from `expected`. An infinity on which both agree is no difference, except in "o",
/// which must be finite.
Disagreement compare(std::string_view array, const Matrix<double>& got, const Matrix<double>& expected);

/// The error of every row of `got`, measured the same way: the largest of them is compare().error.
std::vector<double> errors_by_row(std::string_view array, const Matrix<double>& got,
                                  const Matrix<double>& expected);

/// The disagreement of every array of two outputs: "o", then the final states. Only an infinite one of
/// "final_state" if the numbers of states differ.
std::vector<Disagreement> compare_each(const Output& got, const Output& expected);

/// The worst disagreement of all arrays of two outputs.
Disagreement compare(const Output& got, const Output& expected);

}  // namespace palimpsest
