#pragma once

#include "kernels/cuda/head_matrices.h"

namespace palimpsest {

/// Partial softmax of the queries, each head's `stride` rows after that of the one before.
template <class Scalar>
struct PartialSoftmax {
  std::int64_t stride = 0;
  Scalar* m = nullptr;       // [H, stride] largest score so far
  Scalar* l = nullptr;       // [H, stride] denominator
  Scalar* Y = nullptr;       // [H, stride, V] numerator
  Scalar* fade = nullptr;    // [H, stride] exp(m_old - m): room
  Scalar* decays = nullptr;  // [H, stride] gates met so far, added up; with log_gates
};

/// What a trace of one query asks for besides; null: nobody asks.
template <class Scalar>
struct StreamTap {
  Scalar* x = nullptr;  // [M]
  Scalar* w = nullptr;  // [M]
  Scalar* m = nullptr;  // [1]
  Scalar* l = nullptr;  // [1]
  Scalar* y = nullptr;  // [V]
};

/// Some queries of all heads and some of the keys in their cache, in device memory: core/engines/softmax.h.
/// What the scores have added to them is a bias, or follows from the gates between key and query; or nothing.
template <class Scalar>
struct Attention {
  std::int64_t heads = 1;    // B H
  std::int64_t queries = 0;  // L, of a head
  std::int64_t keys = 0;     // M, of a head
  std::int64_t K = 0;
  std::int64_t V = 0;
  std::int64_t first_query = 0;             // number of query row 0
  std::int64_t first_key = 0;               // number of key row 0
  DeviceRows<const Scalar> q = {};          // [L, H, K], scaled
  DeviceRows<const Scalar> k = {};          // [M, H, K]
  DeviceRows<const Scalar> v = {};          // [M, H, V]
  const Scalar* bias = nullptr;             // [L, M], of a single head
  DeviceRows<const Scalar> log_gates = {};  // [p + T, H, 1], of all keys from number 0 on

  /// Recurrent form: every query streams over the keys that it sees, o [L, H, V]. Throws Error with CUDA's
  /// words, as all of these do.
  void stream(const DeviceRows<Scalar>& o, const StreamTap<Scalar>& tap = {}) const;

  /// The state before the first key.
  void start(const PartialSoftmax<Scalar>& state) const;

  /// X = q k^T and what is added to it, -inf where a key is not seen: [H, L, M].
  void make_scores(const PartialSoftmax<Scalar>& state, Scalar* X) const;

  /// Chunkwise form: merges a tile of keys with these scores into the state. E [H, L, M] receives the weights
  /// under the new maximum; it may be X.
  void merge(const Scalar* X, Scalar* E, const PartialSoftmax<Scalar>& state) const;

  /// Y / l: o [L, H, V]; it may be Y.
  void divide(const PartialSoftmax<Scalar>& state, const DeviceRows<Scalar>& o) const;

  /// Parallel form: E = exp(X - m), l its sums, A = E / l and O = A V, all of [H, L, M] (m and l of [H, L], o
  /// of [L, H, V]). E and A may be X.
  void weigh(const Scalar* X, Scalar* m, Scalar* E, Scalar* l, Scalar* A, const DeviceRows<Scalar>& o) const;
};

}  // namespace palimpsest
