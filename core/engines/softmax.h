#pragma once

#include "core/matrix.h"
#include "core/recorder.h"

namespace palimpsest {

/// Causal softmax attention, spec 3.1. Query row i is token first_query + i and sees the keys up to and
/// including that number; key row j is number first_key + j (keys of an earlier cache count first). Q is
/// already scaled.

/// Partial softmax of L queries over the keys met so far: maximum m, denominator l, numerator Y. Merging is
/// associative: exp(m - m') rescales what was collected under the old maximum.
template <class Scalar>
struct SoftmaxState {
  Vector<Scalar> m;  // [L], -inf before the first key
  Vector<Scalar> l;  // [L]
  Matrix<Scalar> Y;  // [L, V]

  SoftmaxState(Index queries, Index dv);

  /// Y / l: [L, V].
  Matrix<Scalar> output() const;
};

/// Recurrent form: one query [1, K] streams over the keys [M, K] and values [M, V], one pair at a time.
/// Returns [1, V].
template <class Scalar>
RowVector<Scalar> softmax_stream(const RowVector<Scalar>& q, const Matrix<Scalar>& K, const Matrix<Scalar>& V,
                                 Recorder* recorder = nullptr);

/// Chunkwise form: merges one tile of keys [M, K] and values [M, V] into the state of L queries [L, K].
template <class Scalar>
void softmax_tile(const Matrix<Scalar>& Q, const Matrix<Scalar>& K, const Matrix<Scalar>& V,
                  Index first_query, Index first_key, SoftmaxState<Scalar>& state,
                  Recorder* recorder = nullptr);

/// Parallel form: the whole matrix of weights [L, M]. Returns [L, V].
template <class Scalar>
Matrix<Scalar> softmax_dense(const Matrix<Scalar>& Q, const Matrix<Scalar>& K, const Matrix<Scalar>& V,
                             Index first_query, Recorder* recorder = nullptr);

}  // namespace palimpsest
