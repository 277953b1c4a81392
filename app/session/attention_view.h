#pragma once

#include "core/base/matrix.h"

namespace palimpsest {

/// The largest sharpness of softmax beside a rule: exp() of it still is a number.
inline constexpr double most_sharpness = 256;

/// How Attend shows who is read.
struct AttentionView {
  bool shares = true;     // of each row; else the weights themselves
  bool diagonal = false;  // also what a word takes of its own value
  bool mask = true;       // no word reads those after it
  bool gates = true;      // else as if every gate were 1
  bool chunks = true;     // where the form's chunks lie
  double sharpness = 0;   // of softmax; 0: the usual one
  Index channel = 0;      // of the values, where each has weights of its own

  bool operator==(const AttentionView&) const = default;
};

}  // namespace palimpsest
