#pragma once

#include <string>
#include <vector>

#include "app/session/computation.h"

namespace palimpsest {

/// A gate or learning rate that one number can stand for, besides the decay and the strength.
struct PlainGate {
  std::string array;    // "eta"
  std::string meaning;  // what its variant says
  double value = 0;     // its mean
  bool is_constant = true;
  double maximum = 1;  // worth looking at
};

/// Those of the choice, in the order of the variant; what is absent stands at 0 or what its absence means.
std::vector<PlainGate> plain_gates(const Foundation& foundation);

}  // namespace palimpsest
