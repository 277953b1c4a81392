#pragma once

#include <optional>
#include <string>

#include "core/contract/variant.h"

namespace palimpsest {

/// How much of the memory every token keeps, over the channels of its gate.
struct Keeping {
  std::string array = {};     // the input that says so ("alpha", "gamma", "forget"); empty: a parameter
  bool forgets = false;       // the array says what goes, not what stays
  Index channels = 1;         // of the gate
  Vector<double> mean = {};   // [T]: geometric
  Vector<double> least = {};  // [T]: of the channel that fades most
  Vector<double> most = {};   // [T]: of the one that stays longest
};

/// Nothing where no gate makes the rule forget.
std::optional<Keeping> keeping(const Sequence& sequence);

/// The same of one channel alone. Throws InputError for one that there is not.
std::optional<Keeping> keeping_of_channel(const Sequence& sequence, Index channel);

}  // namespace palimpsest
