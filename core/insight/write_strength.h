#pragma once

#include <stop_token>
#include <string>

#include "core/base/matrix.h"
#include "core/contract/variant.h"

namespace palimpsest {

/// How strongly every token writes into a memory.
struct WriteStrengths {
  std::string rate = {};  // the strength is rate |k|^2, and this its name: of "beta", 1 is a write that
                          // puts v in the place of the old answer; empty: |k| |v|, the length of what
                          // a rule without a rate adds
  Vector<double> of_token = {};  // [T]; of several steps of a token the last
};

/// Those of one head, from its own numbers alone: O(T (K + V)). Throws Unsupported where no memory answers,
/// Cancelled when asked to stop.
WriteStrengths write_strengths(const Variant& variant, const Sequence& sequence, std::stop_token stop = {});

}  // namespace palimpsest
