#pragma once

#include "core/sequence.h"
#include "core/trace.h"

namespace palimpsest {

/// The keys and values a causal softmax sees, the earlier cache first.
template <class Scalar>
struct KeyValueCache {
  Matrix<Scalar> K;   // [p + T, K]
  Matrix<Scalar> V;   // [p + T, V]
  Index earlier = 0;  // p

  explicit KeyValueCache(const Sequence& sequence);
};

/// The trace of softmax attention: a stream over the cache per token (recurrent), tiles of chunk_size queries
/// by chunk_size keys (chunkwise), or the whole matrix (parallel). Nothing is carried from token to token but
/// the cache, so no checkpoints are needed.
std::unique_ptr<Trace> make_softmax_trace(const Sequence& sequence, Form form, Precision precision,
                                          Index chunk_size);

}  // namespace palimpsest
