#pragma once

#include "core/engines/engine.h"

namespace palimpsest {

/// Some tokens of Mamba's selective state space (S6), spec 3.14. q is already scaled. In Mamba's own names q
/// is C, k is B and v is x.
template <class Scalar>
struct MambaRows {
  Matrix<Scalar> q;      // [L, K]
  Matrix<Scalar> k;      // [L, K]
  Matrix<Scalar> v;      // [L, V]
  Matrix<Scalar> delta;  // [L, V], >= 0
  Matrix<Scalar> A;      // [K, V], <= 0
  Matrix<Scalar> D;      // [1, V], or empty: no skip connection
};

/// Recurrent form: S = exp(A o 1 delta^T) o S + k (delta o v)^T, o = S^T q + D o v, token by token; with a
/// recorder one token at a time. Chunkwise and parallel form: an associative scan over the pairs (E_t,
/// B_t) with (E_2, B_2) o (E_1, B_1) = (E_2 o E_1, E_2 o B_1 + B_2), then the state carried in, then all
/// reads; makes every state: two tables [L, K V]. Advances {S [K, V]} and returns [L, V]. Throws Cancelled
/// when asked to stop.
template <class Scalar>
Matrix<Scalar> compute_block(const EngineRequest& request, const MambaRows<Scalar>& rows,
                             Carried<Scalar>& state);

}  // namespace palimpsest
