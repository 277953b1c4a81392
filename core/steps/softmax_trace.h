#pragma once

#include <functional>
#include <string>

#include "core/contract/sequence.h"
#include "core/engines/device_engines.h"
#include "core/engines/softmax.h"
#include "core/steps/trace.h"

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

/// The keys and values a causal softmax sees, the earlier cache first, and what fades them.
template <class Scalar>
struct KeyValueCache {
  Matrix<Scalar> K;          // [p + T, K]
  Matrix<Scalar> V;          // [p + T, V]
  Vector<Scalar> log_gates;  // [p + T]; empty where nothing fades
  Index earlier = 0;         // p

  KeyValueCache(const Sequence& sequence, const KeyFading& fading);

  /// The bias on the scores of tokens first .. first + count - 1 with all keys up to the last of them; empty
  /// where nothing fades.
  Matrix<Scalar> bias(Index first, Index count) const;

  /// The queries of a block's tokens, and the first `keys` keys.
  CachedQueries<Scalar> queries(const Sequence& sequence, const Block& block, Index keys) const;

  /// The cache by the names of Variant::states.
  NamedStates states(const KeyFading& fading) const;
};

/// The trace of softmax attention: a stream over the cache per token (recurrent), tiles of chunk_size queries
/// by chunk_size keys (chunkwise), or the whole matrix (parallel). Nothing is carried from token to token but
/// the cache, so no checkpoints are needed.
std::unique_ptr<Trace> make_softmax_trace(const Sequence& sequence, const KeyFading& fading, Form form,
                                          Precision precision, Index chunk_size,
                                          const DeviceEngines& engines);

}  // namespace palimpsest
