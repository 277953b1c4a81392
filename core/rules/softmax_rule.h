#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/rules/rule.h"

namespace palimpsest {

/// How a softmax forgets: every token has a gate that fades all keys before it. The logarithms of the gates
/// between a key and a query are added to their score.
struct KeyFading {
  /// Of the sequence's own tokens, each in [-inf, 0]: [T, 1]. Empty: nothing fades.
  std::function<Matrix<double>(const Sequence&)> log_gates = {};
  std::string state = {};  // in which they are handed on; initial_... is those of the earlier cache
  Symbol symbol = {};

  explicit operator bool() const { return static_cast<bool>(log_gates); }
};

/// Causal softmax attention over a cache of keys and values (spec 3.1), with states k_cache and v_cache and,
/// where keys fade, the one in which their gates are handed on.
std::shared_ptr<const Rule> softmax_rule(KeyFading fading = {});

/// MemoryAccess::answers of such a rule: what a query equal to the key would read from the cache, [N, V]; 0
/// from an empty one. Where keys fade, as of the last token in it.
std::function<Matrix<double>(const Sequence&, const NamedStates&, const Matrix<double>&)> cache_answers();

}  // namespace palimpsest
