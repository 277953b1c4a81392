#pragma once

#include <limits>

#include "core/engines/engine.h"

namespace palimpsest {

/// Causal softmax attention, spec 3.1. Query row i has the number first_query + i and sees the keys up to and
/// including that number; key row j has the number first_key + j (keys of an earlier cache count first). Q is
/// already scaled. A bias is added to the scores of the same queries and keys; empty: none.

/// Partial softmax of L queries over the keys so far: maximum m, denominator l, numerator Y. Merging is
/// associative: exp(m - m') rescales what was collected under the old maximum.
template <class Scalar>
struct SoftmaxState {
  Vector<Scalar> m;  // [L], -inf before the first key
  Vector<Scalar> l;  // [L]
  Matrix<Scalar> Y;  // [L, V]

  SoftmaxState(Index queries, Index dv)
      : m(Vector<Scalar>::Constant(queries, -std::numeric_limits<Scalar>::infinity())),
        l(Vector<Scalar>::Zero(queries)),
        Y(Matrix<Scalar>::Zero(queries, dv)) {}

  /// Y / l: [L, V].
  Matrix<Scalar> output() const { return (Y.array().colwise() / l.array()).matrix(); }
};

/// The log decay of every key at every query, where each gate decays all keys before it: entry (i, j) is the
/// sum of the log_gates [N] of keys j + 1 to first_query + i, and 0 on later keys. Added up from the query
/// backwards, never a difference of sums: a gate of 0 (-inf) is right. [L, first_query + L].
template <class Scalar>
Matrix<Scalar> log_decays(const Vector<Scalar>& log_gates, Index first_query, Index queries);

/// Some queries, already scaled, and the cache that they see: that of earlier tokens first. Keys after the
/// last query's own may be missing: it sees those that there are.
template <class Scalar>
struct CachedQueries {
  Matrix<Scalar> Q = {};          // [T, K]
  Matrix<Scalar> K = {};          // [M, K]
  Matrix<Scalar> V = {};          // [M, V]
  Vector<Scalar> log_gates = {};  // of the keys up to the last query's own; [0]: nothing fades
  Index first_query = 0;          // the number of the first query's own key
  bool fades = false;             // whether there are gates

  /// What the gates have added up to between the keys and queries first .. first + count - 1: [count,
  /// first_query + first + count], or empty.
  Matrix<Scalar> bias(Index first, Index count) const {
    return fades ? log_decays(log_gates, first_query + first, count) : Matrix<Scalar>();
  }
};

/// Parallel form: the whole matrix of weights [L, M]. Returns [L, V].
template <class Scalar>
Matrix<Scalar> softmax_dense(const Matrix<Scalar>& Q, const Matrix<Scalar>& K, const Matrix<Scalar>& V,
                             Index first_query, Recorder* recorder = nullptr,
                             const Matrix<Scalar>& bias = {});

/// Recurrent: every query streams over its keys. Chunkwise: tiles of keys, merged one after the other; a tap
/// receives those of the last one. [T, V]. Throws Cancelled when asked to stop.
template <class Scalar>
Matrix<Scalar> compute_block(const EngineRequest& request, const CachedQueries<Scalar>& given,
                             Carried<Scalar>&);

}  // namespace palimpsest
