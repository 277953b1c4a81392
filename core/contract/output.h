#pragma once

#include "core/base/matrix.h"
#include "core/base/named_states.h"

namespace palimpsest {

/// What one head gives: its outputs and the state after the last token.
struct Output {
  Matrix<double> o;  // [T, V]
  NamedStates states;
};

}  // namespace palimpsest
