#pragma once

#include "core/engines/lact.h"
#include "core/numbers/newton_schulz.h"

namespace palimpsest {

template <class Scalar, class Products>
void LactOnProcessor<Scalar, Products>::gather(const Matrix<Scalar>& K, const Matrix<Scalar>& R,
                                               const Vector<Scalar>& eta, Matrix<Scalar>& G) const {
  const Matrix<Scalar> weighted = eta.asDiagonal() * K;
  G.noalias() += Products::product(weighted.transpose(), R);
}

template <class Scalar, class Products>
void LactOnProcessor<Scalar, Products>::update(const LactUpdate<Scalar>& update, const Matrix<Scalar>& G,
                                               Scalar momentum, Matrix<Scalar>& S, Matrix<Scalar>& M,
                                               Recorder* recorder) const {
  M = momentum * M + G;
  S += update.muon ? newton_schulz_by<Products>(M, *update.muon, recorder) : M;
  if (!update.column_norm) return;
  note(recorder, "S_free", S);
  const RowVector<Scalar> norms = S.colwise().stableNorm();
  const RowVector<Scalar> factors =
      update.column_norm->array() / (norms.array() + static_cast<Scalar>(column_norm_eps));
  S = S * factors.asDiagonal();
  if (!recorder) return;
  (*recorder)("column_norms", norms.transpose());
  (*recorder)("column_factors", factors.transpose());
}

template <class Scalar, class Products>
LactScan<Scalar> LactOnProcessor<Scalar, Products>::scan(const LactTokens<Scalar>& tokens,
                                                         const std::vector<Index>& first,
                                                         const Matrix<Scalar>& S_0, const Matrix<Scalar>& M_0,
                                                         const std::stop_token& stop) const {
  const Vector<Scalar>& momentum = tokens.momentum;
  const std::optional<NewtonSchulz>& muon = tokens.way.muon;
  const auto N = static_cast<Index>(first.size());
  const Index dk = S_0.rows();
  const auto block = [dk](auto& stacked, Index c) { return stacked.middleRows(c * dk, dk); };
  const auto each_batch = [&](auto one) {
    for (Index c = 0; c < N; ++c) {
      stop_if_asked(stop);
      one(c);
    }
  };
  LactScan<Scalar> scan;
  scan.gradients.resize(N * dk, S_0.cols());
  each_batch([&](Index c) {
    const Index begin = entry(first, c);
    const Index end = c + 1 < N ? entry(first, c + 1) : tokens.K.rows();
    Matrix<Scalar> G = Matrix<Scalar>::Zero(dk, S_0.cols());
    gather(tokens.K.middleRows(begin, end - begin), tokens.V.middleRows(begin, end - begin),
           tokens.eta.segment(begin, end - begin), G);
    block(scan.gradients, c) = G;
  });
  scan.momenta = scan.gradients;
  if (momentum.size() > 0) {
    each_batch([&](Index c) {
      if (c == 0) {
        block(scan.momenta, c) += momentum(c) * M_0;
      } else {
        block(scan.momenta, c) += momentum(c) * block(scan.momenta, c - 1);
      }
    });
  }
  scan.steps = scan.momenta;
  if (muon) {
    each_batch([&](Index c) {
      block(scan.steps, c) = newton_schulz_by<Products>(Matrix<Scalar>(block(scan.momenta, c)), *muon);
    });
  }
  scan.weights.resize((N + 1) * dk, S_0.cols());
  scan.weights.topRows(dk) = S_0;
  each_batch([&](Index c) { block(scan.weights, c + 1) = block(scan.weights, c) + block(scan.steps, c); });
  return scan;
}

}  // namespace palimpsest
