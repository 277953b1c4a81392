#pragma once

#include "core/contract/variant.h"

namespace palimpsest {

/// Keys as points on a sphere: their directions in the three that tell most of them apart.
struct KeyDirections {
  Matrix<double> points;     // [keys, 3], each of length at most 1: what is left of a key of length 1
  Vector<double> explained;  // [3]: which part of the squares of all keys of length 1 lies along each
};

/// For keys [N, K]: the first three right singular vectors of the keys divided by their lengths; with fewer
/// channels the rest is 0. A key that is 0 lies in the middle.
KeyDirections key_directions(const Matrix<double>& keys);

}  // namespace palimpsest
