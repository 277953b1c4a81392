#pragma once

#include "core/engines/engine.h"
#include "core/operator/program.h"

namespace palimpsest {

/// Some tokens of MesaNet, spec 3.13, and the ridge. q is already scaled.
template <class Scalar>
struct MesaRows {
  Matrix<Scalar> q;      // [L, K]
  Matrix<Scalar> k;      // [L, K]
  Matrix<Scalar> v;      // [L, V]
  Matrix<Scalar> beta;   // [L, 1], >= 0
  Matrix<Scalar> gamma;  // [L, 1], in [0, 1]
  Matrix<Scalar> ridge;  // [K, K], symmetric positive definite
};

/// Exactly symmetric, so that every solver gets the same matrix.
template <class Scalar>
Matrix<Scalar> symmetric(const Matrix<double>& matrix) {
  return ((matrix + matrix.transpose()) / 2).template cast<Scalar>();
}

/// The ridge of a sequence: [K, K].
template <class Scalar>
Matrix<Scalar> mesa_ridge(const Sequence& sequence) {
  return symmetric<Scalar>(square(sequence.at("ridge")));
}

/// `count` tokens of a sequence from `first` on.
template <class Scalar>
MesaRows<Scalar> mesa_rows(const Sequence& sequence, Index first, Index count) {
  const Rows<Scalar> given{sequence, first, count};
  return {.q = given.scaled_q(),
          .k = given("k"),
          .v = given("v"),
          .beta = given("beta"),
          .gamma = given("gamma"),
          .ridge = mesa_ridge<Scalar>(sequence)};
}

/// Both decayed Gram matrices side by side: [K, K + V], first sum beta k k^T, then sum beta k v^T.
template <class Scalar>
using MesaState = Matrix<Scalar>;

/// The iterations of conjugate gradients towards the solution x of one query of a chunk.
struct SolveCourse {
  Index row = 0;  // which query; set by the caller
  /// The residual q - M x in the norm of the preconditioner, relative to the query, at the beginning and
  /// after each step: [1 + steps]. The steps end where it reaches the rounding.
  std::vector<double> rests = {};
  std::vector<Vector<double>> solutions = {};  // x so far, from 0 on: [1 + steps], each [K]
  bool is_direct = false;  // it did not converge, and the engine solved the system directly instead
};

/// Chunkwise form: conjugate gradients on all queries of the chunk at once; the Gram matrices inside the
/// chunk are never formed. Each query, preconditioned with the diagonal, stops when its residual has fallen
/// to the rounding of Scalar relative to the query; one that has not after 4 K + 16 steps is solved directly.
/// Advances the state and returns [L, V]; `course` follows one of the queries.
template <class Scalar>
Matrix<Scalar> mesa_chunk(const MesaRows<Scalar>& rows, MesaState<Scalar>& H, Recorder* recorder = nullptr,
                          const std::stop_token& stop = {}, SolveCourse* course = nullptr);

/// x = (Hkk + ridge)^{-1} q of the rows from `first` on, one Cholesky solve each, from the Hkk [K, K] before
/// the first row: [L - first, K]. Throws Cancelled when asked to stop.
template <class Scalar>
Matrix<Scalar> mesa_solutions(const MesaRows<Scalar>& rows, Matrix<Scalar> Hkk, Index first,
                              const std::stop_token& stop = {});

/// Recurrent form: H <- gamma H + beta k (k, v)^T, x = (Hkk + ridge)^{-1} q by one Cholesky solve, o = Hkv^T
/// x, token by token; a recorder wants one token at a time. Chunkwise: mesa_chunk(). Parallel:
/// mesa_solutions(), then one masked matrix (X K^T o G) diag(beta). Advances {H} and returns [L, V].
template <class Scalar>
Matrix<Scalar> compute_block(const EngineRequest& request, const MesaRows<Scalar>& rows,
                             Carried<Scalar>& state);

/// The inputs of the gains of recursive least squares, spec 3.13: no values are needed.
template <class Scalar>
struct LeastSquaresKeys {
  Matrix<Scalar> k;      // [L, K]
  Matrix<Scalar> gamma;  // [L, 1], in (0, 1]
  Matrix<Scalar> beta;   // [L, 1], >= 0
};

/// The inverse of a symmetric positive definite matrix, exactly symmetric.
template <class Scalar>
Matrix<Scalar> symmetric_inverse(const Matrix<Scalar>& R);

/// The gains b_t = beta_t P_t k_t, key by key, after Sherman and Morrison. P [K, K] stays exactly symmetric;
/// it is advanced to the last key. [L, K]. A recorder receives what the last key made.
template <class Scalar>
Matrix<Scalar> least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Matrix<Scalar>& P,
                                   Recorder* recorder = nullptr);

/// The same; in the parallel form independently per token: one solve with R_t = gamma_t R_{t-1} + beta_t k_t
/// k_t^T, the inverse of P_t. Throws Cancelled when asked to stop.
template <class Scalar>
Matrix<Scalar> compute_block(const EngineRequest& request, const LeastSquaresKeys<Scalar>& keys,
                             Carried<Scalar>& state);

}  // namespace palimpsest
