#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/numbers/matrix_functions.h"
#include "core/operator/inner_batches.h"
#include "kernels/cuda/engine.h"
#include "kernels/cuda/engines.h"
#include "kernels/cuda/head_groups.h"
#include "kernels/cuda/lact.h"
#include "kernels/cuda/products.h"

namespace palimpsest::cuda {

namespace {

/// Newton-Schulz steps on a matrix [K, V] of every head, and room for them.
template <class Scalar>
class NewtonSchulzSteps {
 public:
  NewtonSchulzSteps(Index heads, Index K, Index V)
      : is_tall_(K > V),
        norm_(heads, 1, 1),
        X_(heads, std::min(K, V), std::max(K, V)),
        next_(heads, std::min(K, V), std::max(K, V)),
        B_(heads, std::min(K, V), std::min(K, V)),
        polynomial_(heads, std::min(K, V), std::min(K, V)) {}

  /// What newton_schulz() gives for M: [K, V]; it stands until the next call.
  HeadMatrices<Scalar> operator()(const HeadMatrices<Scalar>& M, const NewtonSchulz& steps,
                                  Recorder* recorder = nullptr) {
    const Index heads = X_.heads();
    divide_by_norm(heads, is_tall_ ? M.transposed() : M, static_cast<Scalar>(newton_schulz_eps), norm_.all(),
                   X_.all());
    Matrix<double> spectra(X_.rows(), recorder ? steps.size() + 1 : 0);
    const auto record = [&](const std::string& name, Index column) {
      const Matrix<Scalar> X = X_.matrix();
      (*recorder)(name, X);
      spectra.col(column) = singular_values(X.template cast<double>());
    };
    if (recorder) (*recorder)("norm", norm_.matrix());
    if (recorder) record("X_0", 0);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto a = static_cast<Scalar>(steps[i].a);
      const auto b = static_cast<Scalar>(steps[i].b);
      const auto c = static_cast<Scalar>(steps[i].c);
      multiply(heads, 1, X_.all(), X_.all().transposed(), 0, {}, B_.all());
      multiply(heads, c, B_.all(), B_.all(), b, B_.all(), polynomial_.all());
      multiply(heads, 1, polynomial_.all(), X_.all(), a, X_.all(), next_.all());
      std::swap(X_, next_);
      if (!recorder) continue;
      (*recorder)(fmt::format("B_{}", i + 1), B_.matrix());
      record(fmt::format("X_{}", i + 1), static_cast<Index>(i) + 1);
    }
    if (recorder) (*recorder)("spectra", spectra);
    return is_tall_ ? X_.all().transposed() : X_.all();
  }

 private:
  bool is_tall_;
  DeviceMatrices<Scalar> norm_, X_, next_, B_, polynomial_;
};

/// Updates of all heads at batch ends, and room for them.
template <class Scalar>
class Updates {
 public:
  Updates(Index heads, Index K, Index V, const std::optional<NewtonSchulz>& muon)
      : heads_(heads), muon_(muon) {
    if (muon) steps_.emplace(heads, K, V);
  }

  /// The norms that columns keep: [H, 1, V].
  void keep_column_norms(DeviceMatrices<Scalar> wanted) {
    norms_ = DeviceMatrices<Scalar>(heads_, 1, wanted.columns());
    factors_ = DeviceMatrices<Scalar>(heads_, 1, wanted.columns());
    wanted_ = std::move(wanted);
  }

  /// lact_update() of every head; `momentum` [1, 1].
  void operator()(const HeadMatrices<Scalar>& G, const HeadMatrices<Scalar>& momentum,
                  DeviceMatrices<Scalar>& S, DeviceMatrices<Scalar>& M, Recorder* recorder = nullptr) {
    add_scaled(heads_, momentum, M.all(), G, M.all());
    add_scaled(heads_, {}, muon_ ? (*steps_)(M.all(), *muon_, recorder) : M.all(), S.all(), S.all());
    if (wanted_.heads() == 0) return;
    if (recorder) (*recorder)("S_free", S.matrix());
    restore_column_norms(heads_, wanted_.all(), static_cast<Scalar>(column_norm_eps), norms_.all(),
                         factors_.all(), S.all());
    if (!recorder) return;
    (*recorder)("column_norms", norms_.matrix().transpose());
    (*recorder)("column_factors", factors_.matrix().transpose());
  }

 private:
  Index heads_;
  std::optional<NewtonSchulz> muon_;
  std::optional<NewtonSchulzSteps<Scalar>> steps_;
  DeviceMatrices<Scalar> wanted_, norms_, factors_;
};

/// Tokens of all heads on the device.
template <class Scalar>
struct Tokens {
  DeviceMatrices<Scalar> K, V, eta;
  DeviceMatrices<Scalar> momentum;  // [H, N, 1]; empty: none

  void round(Rounding rounding) {
    K.round(rounding);
    V.round(rounding);
  }

  /// The gradient of `count` tokens from `first` on, R what is to be answered more of: [K, V].
  void gather(Index first, Index count, HeadMatrices<Scalar> R, const HeadMatrices<Scalar>& G) {
    gather_gradient(K.heads(), K.all().middle_rows(first, count), R.middle_rows(first, count),
                    eta.all().middle_rows(first, count), false, G);
  }
};

/// Room for lact_scan() of every head: the matrices of all batches, stacked.
template <class Scalar>
struct Scan {
  DeviceMatrices<Scalar> gradients, momenta, steps, weights;
  std::optional<NewtonSchulzSteps<Scalar>> newton_schulz;  // of all batches at once

  Scan(Index heads, Index batches, Index dk, Index dv, bool muon)
      : gradients(heads, batches * dk, dv),
        momenta(heads, batches * dk, dv),
        steps(heads, batches * dk, dv),
        weights(heads, (batches + 1) * dk, dv) {
    if (muon) newton_schulz.emplace(heads * batches, dk, dv);
  }
};

/// Matrix c of those stacked, of every head: [dk, V].
template <class Scalar>
HeadMatrices<Scalar> batch_of(DeviceMatrices<Scalar>& stacked, Index c, Index dk) {
  return stacked.all().middle_rows(c * dk, dk);
}

template <class Scalar>
void scan_batches(Scan<Scalar>& scan, Tokens<Scalar>& tokens, const std::vector<Index>& first,
                  const std::optional<NewtonSchulz>& muon, DeviceMatrices<Scalar>& S_0,
                  DeviceMatrices<Scalar>& M_0, const std::stop_token& stop) {
  const Index heads = S_0.heads();
  const Index dk = S_0.rows();
  const Index dv = S_0.columns();
  const auto N = static_cast<Index>(first.size());
  const auto of = [dk](DeviceMatrices<Scalar>& stacked, Index c) { return batch_of(stacked, c, dk); };
  // All batches of all heads lie one after the other: as many heads.
  const auto each = [&](DeviceMatrices<Scalar>& stacked) -> HeadMatrices<Scalar> {
    return {stacked.data(), dk, dv, dv, 1, dk * dv};
  };

  for (Index c = 0; c < N; ++c) {
    stop_if_asked(stop);
    const Index begin = first[static_cast<std::size_t>(c)];
    const Index end = c + 1 < N ? first[static_cast<std::size_t>(c) + 1] : tokens.K.rows();
    tokens.gather(begin, end - begin, tokens.V.all(), of(scan.gradients, c));
    // M_c = m_c M_{c-1} + G_c
    if (tokens.momentum.heads() == 0) {
      add_scaled(heads, {}, of(scan.gradients, c), {}, of(scan.momenta, c));
    } else {
      add_scaled(heads, tokens.momentum.all().middle_rows(c, 1), c == 0 ? M_0.all() : of(scan.momenta, c - 1),
                 of(scan.gradients, c), of(scan.momenta, c));
    }
  }
  stop_if_asked(stop);
  if (muon) {
    add_scaled(heads * N, {}, (*scan.newton_schulz)(each(scan.momenta), *muon), {}, each(scan.steps));
  } else {
    add_scaled(heads * N, {}, each(scan.momenta), {}, each(scan.steps));
  }
  // S_c = S_{c-1} + step_c
  add_scaled(heads, {}, S_0.all(), {}, of(scan.weights, 0));
  for (Index c = 0; c < N; ++c) {
    stop_if_asked(stop);
    add_scaled(heads, {}, of(scan.weights, c), of(scan.steps, c), of(scan.weights, c + 1));
  }
}

template <class Scalar>
DeviceMatrices<Scalar> column(const Vector<Scalar>& vector) {
  return DeviceMatrices<Scalar>(Matrix<Scalar>(vector));
}

template <class Scalar>
DeviceMatrices<Scalar> number(Scalar value) {
  return DeviceMatrices<Scalar>(Matrix<Scalar>(Matrix<Scalar>::Constant(1, 1, value)));
}

/// Some heads, whole.
template <class Scalar>
class LactOnDevice {
 public:
  LactOnDevice(std::span<const LactTokens<Scalar>> heads, std::span<const Carried<Scalar>> states,
               Rounding rounding)
      : way_(heads.front().way),
        rounding_(rounding),
        heads_(static_cast<Index>(heads.size())),
        batches_(heads.front().batches()),
        S_(upload_part(states, 0)),
        M_(upload_part(states, 1)),
        Q_(DeviceMatrices<Scalar>::of_heads(heads, &LactTokens<Scalar>::Q)),
        O_(heads_, Q_.rows(), S_.columns()) {
    tokens_.K = DeviceMatrices<Scalar>::of_heads(heads, &LactTokens<Scalar>::K);
    tokens_.V = DeviceMatrices<Scalar>::of_heads(heads, &LactTokens<Scalar>::V);
    tokens_.round(rounding);
    Q_.round(rounding);
    tokens_.eta = DeviceMatrices<Scalar>::of_heads(heads, &LactTokens<Scalar>::eta);
    if (heads.front().momentum.size() > 0)
      tokens_.momentum = DeviceMatrices<Scalar>::of_heads(heads, &LactTokens<Scalar>::momentum);
    if (heads.front().column_norm)
      column_norms_ = DeviceMatrices<Scalar>::of_heads(
          heads, [](const LactTokens<Scalar>& head) { return Matrix<Scalar>(*head.column_norm); });
  }

  /// The scan over all batches, then all reads.
  void run_scan(const std::stop_token& stop) {
    const Index N = batches_.batch_count();
    const Index dk = S_.rows();
    std::vector<Index> first;
    for (Index c = 0; c < N; ++c) first.push_back(batches_.piece(c).first);
    if (N == 0) return;
    Scan<Scalar> scan(heads_, N, dk, S_.columns(), way_.muon.has_value());
    computing<Scalar>({&S_, &M_}, [&] {
      scan_batches(scan, tokens_, first, way_.muon, S_, M_, stop);
      for (Index c = 0; c < N; ++c) {
        stop_if_asked(stop);
        read(batches_.piece(c), batch_of(scan.weights, way_.update_first ? c + 1 : c, dk));
      }
      add_scaled(heads_, {}, batch_of(scan.weights, N, dk), {}, S_.all());
      add_scaled(heads_, {}, batch_of(scan.momenta, N - 1, dk), {}, M_.all());
    });
  }

  /// Batch after batch.
  void run_batches(const std::stop_token& stop) {
    const Index dk = S_.rows();
    const Index dv = S_.columns();
    Updates<Scalar> updates(heads_, dk, dv, way_.muon);
    if (column_norms_.heads() > 0) updates.keep_column_norms(std::move(column_norms_));
    DeviceMatrices<Scalar> G(heads_, dk, dv);
    DeviceMatrices<Scalar> R(way_.squared_loss ? heads_ : 0, O_.rows(), dv);
    const std::vector<Matrix<Scalar>> zeros(static_cast<std::size_t>(heads_), Matrix<Scalar>::Zero(1, 1));
    auto no_momentum = DeviceMatrices<Scalar>::of_heads(std::span(zeros));
    computing<Scalar>({&S_, &M_}, [&] {
      for (Index c = 0; c < batches_.batch_count(); ++c) {
        stop_if_asked(stop);
        const Piece batch = batches_.piece(c);
        if (!way_.update_first) read(batch, S_.all());
        // v, or v - S^T k
        if (way_.squared_loss)
          multiply(heads_, -1, rows(tokens_.K, batch), S_.all(), 1, rows(tokens_.V, batch), rows(R, batch));
        tokens_.gather(batch.first, batch.count, way_.squared_loss ? R.all() : tokens_.V.all(), G.all());
        updates(G.all(),
                tokens_.momentum.heads() > 0 ? tokens_.momentum.all().middle_rows(c, 1) : no_momentum.all(),
                S_, M_);
        if (way_.update_first) read(batch, S_.all());
        CHECK_CUDA(
            cudaStreamSynchronize(nullptr));  // or all would be under way before anyone could ask to stop
      }
    });
  }

  std::vector<Matrix<Scalar>> outputs() {
    O_.round(rounding_);
    return O_.download();
  }
  void download_states(std::span<Carried<Scalar>> to) const {
    download_part(S_, to, 0);
    download_part(M_, to, 1);
  }

 private:
  static HeadMatrices<Scalar> rows(DeviceMatrices<Scalar>& all, const Piece& batch) {
    return all.all().middle_rows(batch.first, batch.count);
  }

  /// Q S of a batch.
  void read(const Piece& batch, const HeadMatrices<Scalar>& S) {
    multiply(heads_, 1, rows(Q_, batch), S, 0, {}, rows(O_, batch));
  }

  LactWay way_;
  Rounding rounding_;
  Index heads_;
  InnerBatches batches_;
  DeviceMatrices<Scalar> S_, M_, Q_, O_, column_norms_;
  Tokens<Scalar> tokens_;
};

/// Numbers that one head takes, rather too many.
template <class Scalar>
double numbers(bool scan, const LactTokens<Scalar>& head) {
  const auto T = static_cast<double>(head.K.rows());
  const auto K = static_cast<double>(head.K.cols());
  const auto V = static_cast<double>(head.V.cols());
  const double batches = scan ? T / static_cast<double>(head.way.batch) + 1 : 1;
  return T * (2 * K + 3 * V + 2) + 10 * batches * (K * V + std::min(K, V) * std::min(K, V)) + 1;
}

/// What a block takes of the device, one thing after the other.
template <class Scalar>
struct LactStepsOnDevice {
  Rounding rounding;

  Matrix<Scalar> read(const Matrix<Scalar>& Q, const Matrix<Scalar>& S) const {
    return cuda::read(Q, S, rounding);
  }

  void gather(const Matrix<Scalar>& K, const Matrix<Scalar>& R, const Vector<Scalar>& eta,
              Matrix<Scalar>& G) const {
    DeviceMatrices<Scalar> keys(K), rows(R), rates = column(eta), sum(G);
    keys.round(rounding);
    rows.round(rounding);
    gather_gradient(1, keys.all(), rows.all(), rates.all(), true, sum.all());
    G = sum.matrix();
  }

  void update(const LactUpdate<Scalar>& update, const Matrix<Scalar>& G, Scalar momentum, Matrix<Scalar>& S,
              Matrix<Scalar>& M, Recorder* recorder) const {
    DeviceMatrices<Scalar> gradient(G), weights(S), direction(M), factor = number(momentum);
    Updates<Scalar> updates(1, S.rows(), S.cols(), update.muon);
    if (update.column_norm)
      updates.keep_column_norms(DeviceMatrices<Scalar>(Matrix<Scalar>(*update.column_norm)));
    updates(gradient.all(), factor.all(), weights, direction, recorder);
    S = weights.matrix();
    M = direction.matrix();
  }

  LactScan<Scalar> scan(const LactTokens<Scalar>& given, const std::vector<Index>& first,
                        const Matrix<Scalar>& S_0, const Matrix<Scalar>& M_0,
                        const std::stop_token& stop) const {
    Tokens<Scalar> tokens = {
        DeviceMatrices<Scalar>(given.K), DeviceMatrices<Scalar>(given.V), column(given.eta), {}};
    if (given.momentum.size() > 0) tokens.momentum = column(given.momentum);
    tokens.round(rounding);
    DeviceMatrices<Scalar> S(S_0), M(M_0);
    Scan<Scalar> scan(1, static_cast<Index>(first.size()), S.rows(), S.columns(), given.way.muon.has_value());
    scan_batches(scan, tokens, first, given.way.muon, S, M, stop);
    return {scan.gradients.matrix(), scan.momenta.matrix(), scan.steps.matrix(), scan.weights.matrix()};
  }
};

template <class Scalar>
class LactEngine : public CudaEngine<LactTokens, Scalar> {
 public:
  using CudaEngine<LactTokens, Scalar>::CudaEngine;

 private:
  using Base = CudaEngine<LactTokens, Scalar>;
  using Base::rounding_;

  Matrix<Scalar> step(const EngineRequest& request, const LactTokens<Scalar>& rows,
                      Carried<Scalar>& state) const override {
    return lact_block(LactStepsOnDevice<Scalar>{rounding_}, request, rows, state);
  }

  double bytes(const EngineRequest& request, const LactTokens<Scalar>& head,
               const Carried<Scalar>&) const override {
    return sizeof(Scalar) * numbers(request.form == Form::parallel, head);
  }

  typename Base::Outputs run_heads(const EngineRequest& request, typename Base::Heads heads,
                                   typename Base::States states) const override {
    LactOnDevice<Scalar> device(heads, states, rounding_);
    if (request.form == Form::parallel) {
      device.run_scan(request.stop);
    } else {
      device.run_batches(request.stop);
    }
    device.download_states(states);
    return device.outputs();
  }
};

}  // namespace

template <class Scalar>
OwnedEngine<LactTokens, Scalar> lact_engine(Rounding rounding) {
  return std::make_unique<LactEngine<Scalar>>(rounding);
}

template OwnedEngine<LactTokens, double> lact_engine(Rounding);
template OwnedEngine<LactTokens, float> lact_engine(Rounding);

}  // namespace palimpsest::cuda
