#pragma once

#include <optional>
#include <stop_token>
#include <vector>

#include "core/base/record.h"
#include "core/numbers/matrix_functions.h"

namespace palimpsest {

/// LaCT, spec 3.11: the gradient of a whole inner batch makes one update of the weights S [K, V].

/// Which update.
template <class Scalar>
struct LactUpdate {
  std::optional<NewtonSchulz> muon;              // none: plain gradient steps
  std::optional<RowVector<Scalar>> column_norm;  // [V], the norms that the columns of S keep; none: free
};

/// What is added to the norm of a column that is rescaled.
inline constexpr double column_norm_eps = 1e-5;

/// Adds the gradient of some tokens of a batch: G += K^T Diag(eta) R, where the rows of R [L, V] are what the
/// memory should learn to answer more of: v for the dot loss, v - S^T k for the squared one.
template <class Scalar>
void lact_gather(const Matrix<Scalar>& K, const Matrix<Scalar>& R, const Vector<Scalar>& eta,
                 Matrix<Scalar>& G);

/// The end of a batch: M = momentum M + G, then S = normalise(S + NS5(M)).
template <class Scalar>
void lact_update(const LactUpdate<Scalar>& update, const Matrix<Scalar>& G, Scalar momentum,
                 Matrix<Scalar>& S, Matrix<Scalar>& M, Recorder* recorder = nullptr);

/// The scan over all batches, for the dot loss without weight norm, where no gradient needs the weights: all
/// gradients, a linear scan for M, the steps of every batch for itself, running sums for S. N batches,
/// stacked.
template <class Scalar>
struct LactScan {
  Matrix<Scalar> gradients;  // [N K, V]
  Matrix<Scalar> momenta;    // [N K, V]
  Matrix<Scalar> steps;      // [N K, V]: NS5(M) of every batch, or M itself
  Matrix<Scalar> weights;    // [(N + 1) K, V]: before the first batch and after each
};

/// `first` are the first tokens of the batches; `momentum` [N] may be empty. Throws Cancelled when asked to
/// stop.
template <class Scalar>
LactScan<Scalar> lact_scan(const Matrix<Scalar>& K, const Matrix<Scalar>& V, const Vector<Scalar>& eta,
                           const std::vector<Index>& first, const Vector<Scalar>& momentum,
                           const std::optional<NewtonSchulz>& muon, const Matrix<Scalar>& S_0,
                           const Matrix<Scalar>& M_0, const std::stop_token& stop);

/// How whole sequences are taken.
struct LactWay {
  bool scan = false;          // all batches at once, where no gradient needs the weights
  Index batch = 1;            // tokens of an inner batch; the last one may be shorter
  bool update_first = false;  // a batch is read from the weights after it, not from those before
  bool squared_loss = false;  // gradients of 1/2 |S^T k - v|^2, not of -v^T S^T k
  std::optional<NewtonSchulz> muon;
};

/// A whole sequence.
template <class Scalar>
struct LactHead {
  Matrix<Scalar> Q;                                   // [T, K], scaled
  Matrix<Scalar> K;                                   // [T, K]
  Matrix<Scalar> V;                                   // [T, V]
  Vector<Scalar> eta;                                 // [T]
  Vector<Scalar> momentum = {};                       // [N], or empty: none
  std::optional<RowVector<Scalar>> column_norm = {};  // [V]; none: free
};

}  // namespace palimpsest
