#pragma once

#include <functional>
#include <memory>

#include "core/rules/rule.h"
#include "core/steps/softmax_trace.h"

namespace palimpsest {

/// Causal softmax attention over a cache of keys and values (spec 3.1), with states k_cache and v_cache and,
/// where keys fade, the one in which their gates are handed on.
std::shared_ptr<const Rule> softmax_rule(KeyFading fading = {});

/// MemoryAccess::answers of such a rule: what a query equal to the key would read from the cache, [N, V]; 0
/// from an empty one. Where keys fade, as of the last token in it.
std::function<Matrix<double>(const Sequence&, const NamedStates&, const Matrix<double>&)> cache_answers();

}  // namespace palimpsest
