#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "core/contract/variant.h"

namespace palimpsest {

/// How much of the memory every token keeps, over the channels of its gate.
struct Keeping {
  std::string array = {};     // the input that says so ("alpha", "gamma", "forget", "mu"); empty: a parameter
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

/// What is left of a write, as far as the gates go, after some later tokens.
struct KeptBetween {
  Index channels = 1;
  double least = 1;  // of the channel that fades most
  double mean = 1;   // geometric, over the channels
  double most = 1;   // of the one that stays longest
};

/// The product of the gates of tokens first + 1 to last: what token `last` still finds of what `first` wrote.
/// Nothing where no gate makes the rule forget. Throws InputError for tokens that there are not.
std::optional<KeptBetween> kept_between(const Sequence& sequence, Index first, Index last);

/// After how many tokens half is left where each keeps `kept`: log(1/2) / log kept; infinite where nothing
/// fades, 0 where all goes.
inline double half_life(double kept) {
  if (kept <= 0) return 0;
  if (kept >= 1) return std::numeric_limits<double>::infinity();
  return std::log(0.5) / std::log(kept);
}

/// What keeps half for `tokens` >= 0.
inline double kept_for(double tokens) { return tokens > 0 ? std::exp2(-1 / tokens) : 0; }

}  // namespace palimpsest
