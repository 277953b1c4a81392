#pragma once

#include "core/engines/engine.h"
#include "core/numbers/matrix_functions.h"
#include "core/numbers/products.h"
#include "core/operator/blocks.h"

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

/// The scan over all batches, for the dot loss without weight norm, where no gradient needs the weights: all
/// gradients, a linear scan for M, the step of every batch independently, running sums for S. N batches,
/// stacked.
template <class Scalar>
struct LactScan {
  Matrix<Scalar> gradients;  // [N K, V]
  Matrix<Scalar> momenta;    // [N K, V]
  Matrix<Scalar> steps;      // [N K, V]: NS5(M) of every batch, or M itself
  Matrix<Scalar> weights;    // [(N + 1) K, V]: before the first batch and after each
};

/// How LaCT processes a sequence.
struct LactWay {
  Index batch = 1;            // tokens of an inner batch; the last one may be shorter
  bool update_first = false;  // a batch is read from the weights after it, not from those before
  bool squared_loss = false;  // gradients of 1/2 |S^T k - v|^2, not of -v^T S^T k
  std::optional<NewtonSchulz> muon = {};
};

/// Some tokens: those of a block, or a whole sequence. The parallel form is the scan.
template <class Scalar>
struct LactTokens {
  LactWay way = {};
  Matrix<Scalar> Q = {};                              // [L, K], scaled
  Matrix<Scalar> K = {};                              // [L, K]
  Matrix<Scalar> V = {};                              // [L, V]
  Vector<Scalar> eta = {};                            // [L]
  Vector<Scalar> momentum = {};                       // [N] of their batches, or empty: none
  std::optional<RowVector<Scalar>> column_norm = {};  // [V]; none: free

  InnerBatches batches() const { return {K.rows(), way.batch, way.batch}; }
  LactUpdate<Scalar> update() const { return {way.muon, column_norm}; }
  Scalar momentum_of(Index batch) const { return momentum.size() > 0 ? momentum(batch) : Scalar(0); }
};

/// What LaCT computes with on the processor; `Products` multiplies (core/numbers/products.h).
template <class Scalar, class Products = EigenProducts>
struct LactOnProcessor {
  Matrix<Scalar> read(const Matrix<Scalar>& Q, const Matrix<Scalar>& S) const {
    return Products::product(Q, S);
  }

  /// Adds the gradient of some tokens of a batch: G += K^T Diag(eta) R, where the rows of R [L, V] are the
  /// desired changes of the prediction: v for the dot loss, the error v - S^T k for the squared one.
  void gather(const Matrix<Scalar>& K, const Matrix<Scalar>& R, const Vector<Scalar>& eta,
              Matrix<Scalar>& G) const;

  /// The end of a batch: M = momentum M + G, then S = normalise(S + NS5(M)).
  void update(const LactUpdate<Scalar>& update, const Matrix<Scalar>& G, Scalar momentum, Matrix<Scalar>& S,
              Matrix<Scalar>& M, Recorder* recorder = nullptr) const;

  /// `first` are the first tokens of the batches. Throws Cancelled when asked to stop.
  LactScan<Scalar> scan(const LactTokens<Scalar>& tokens, const std::vector<Index>& first,
                        const Matrix<Scalar>& S_0, const Matrix<Scalar>& M_0,
                        const std::stop_token& stop) const;
};

/// Carried are the weights S, their momentum M and the gradient G of a batch so far, 0 at its start.
///
/// The phases of the forms batch by batch: pieces of a batch are gathered, the update is made, and with
/// update_first the pieces are read.
struct LactPhase {
  enum : Index { gathering, updating, reading };
};

/// All batches at once: the scan, then all reads.
template <class Scalar, class Device>
Matrix<Scalar> lact_scan_block(const Device& device, const EngineRequest& request,
                               const LactTokens<Scalar>& tokens, Matrix<Scalar>& S, Matrix<Scalar>& M) {
  const InnerBatches batches = tokens.batches();
  const Index N = batches.batch_count();
  const Index dk = S.rows();
  std::vector<Index> first;
  for (Index c = 0; c < N; ++c) first.push_back(batches.piece(c).first);
  const LactScan<Scalar> scan = device.scan(tokens, first, S, M, request.stop);
  Matrix<Scalar> O(tokens.Q.rows(), tokens.V.cols());
  for (Index c = 0; c < N; ++c) {
    const Index begin = first[static_cast<std::size_t>(c)];
    const Index count = batches.batch_size(c);
    const Index read = tokens.way.update_first ? c + 1 : c;
    O.middleRows(begin, count) =
        device.read(tokens.Q.middleRows(begin, count), scan.weights.middleRows(read * dk, dk));
  }
  if (request.tap) {
    (*request.tap)("G_all", scan.gradients);
    if (tokens.momentum.size() > 0) (*request.tap)("M_all", scan.momenta);
    if (tokens.way.muon) (*request.tap)("X_all", scan.steps);
    (*request.tap)("S_all", scan.weights);
  }
  S = scan.weights.bottomRows(dk);
  M = scan.momenta.bottomRows(dk);
  return O;
}

/// One block of LaCT on a device with gather(), update(), scan() as above, and read(Q, S) = Q S. Returns the
/// outputs of the block [L, V], or no rows.
template <class Scalar, class Device>
Matrix<Scalar> lact_block(const Device& device, const EngineRequest& request,
                          const LactTokens<Scalar>& tokens, Carried<Scalar>& state) {
  Matrix<Scalar>& S = state[0];
  Matrix<Scalar>& M = state[1];
  Matrix<Scalar>& G = state[2];
  if (request.form == Form::parallel) return lact_scan_block(device, request, tokens, S, M);
  const Index phase = request.phase.value();
  if (phase == LactPhase::reading) return device.read(tokens.Q, S);
  Matrix<Scalar> O(0, tokens.V.cols());
  if (phase == LactPhase::updating) {
    device.update(tokens.update(), G, tokens.momentum_of(0), S, M, request.tap);
    G.setZero();
    return O;
  }
  const bool by_token = request.form == Form::recurrent;
  if (!tokens.way.update_first) O = device.read(tokens.Q, S);
  Matrix<Scalar> R = tokens.V;
  if (tokens.way.squared_loss) {
    const Matrix<Scalar> old = device.read(tokens.K, S);
    R -= old;
    if (request.tap) request.tap->rows("r", by_token, R);
    if (request.tap)
      (*request.tap)(by_token ? "old" : "OLD", by_token ? Matrix<Scalar>(old.transpose()) : old);
  }
  Matrix<Scalar> added = Matrix<Scalar>::Zero(G.rows(), G.cols());
  device.gather(tokens.K, R, tokens.eta, added);
  note(request.tap, "update", added);
  G += added;
  return O;
}

}  // namespace palimpsest
