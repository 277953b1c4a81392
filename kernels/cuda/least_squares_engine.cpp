#include <algorithm>

#include "core/base/stop.h"
#include "kernels/cuda/engine.h"
#include "kernels/cuda/engines.h"
#include "kernels/cuda/least_squares.h"

namespace palimpsest::cuda {

namespace {

/// The keys of all heads, uploaded once, with P and room for the gains.
template <class Scalar>
class KeysOnDevice {
 public:
  KeysOnDevice(std::span<const LeastSquaresKeys<Scalar>> heads, std::span<const Carried<Scalar>> P,
               Rounding rounding)
      : k_(DeviceMatrices<Scalar>::of_heads(heads, &LeastSquaresKeys<Scalar>::k)),
        gamma_(DeviceMatrices<Scalar>::of_heads(heads, &LeastSquaresKeys<Scalar>::gamma)),
        beta_(DeviceMatrices<Scalar>::of_heads(heads, &LeastSquaresKeys<Scalar>::beta)),
        P_(upload_part(P, 0)),
        along_(k_.heads(), 1, k_.columns()),
        gains_(k_.heads(), k_.rows(), k_.columns()) {
    k_.round(rounding);
    tokens_ = {.heads = k_.heads(),
               .T = k_.rows(),
               .K = k_.columns(),
               .k = k_.view(),
               .gamma = gamma_.view(),
               .beta = beta_.view(),
               .gains = gains_.template view<Scalar>()};
  }

  /// `count` tokens from `first` on.
  LeastSquaresTokens<Scalar> tokens(Index first, Index count) const {
    LeastSquaresTokens<Scalar> some = tokens_;
    some.T = count;
    some.k = some.k.from(0, first);
    some.gamma = some.gamma.from(0, first);
    some.beta = some.beta.from(0, first);
    some.gains = some.gains.from(0, first);
    return some;
  }
  Index heads() const { return tokens_.heads; }
  Index T() const { return tokens_.T; }
  Index K() const { return tokens_.K; }
  DeviceMatrices<Scalar>& P() { return P_; }
  DeviceMatrices<Scalar>& along() { return along_; }
  const DeviceMatrices<Scalar>& gains() const { return gains_; }

 private:
  DeviceMatrices<Scalar> k_, gamma_, beta_, P_, along_, gains_;
  LeastSquaresTokens<Scalar> tokens_;
};

/// Some keys at a time, so that a run can be stopped.
template <class Scalar>
void run_keys(KeysOnDevice<Scalar>& keys, const std::stop_token& stop) {
  constexpr Index at_once = 1024;
  computing<Scalar>({&keys.P()}, [&] {
    for (Index first = 0; first < keys.T(); first += at_once) {
      stop_if_asked(stop);
      walk_gains(keys.tokens(first, std::min(at_once, keys.T() - first)), keys.P().data(),
                 keys.along().data());
    }
  });
}

/// Some tokens of all heads at a time: as many as there is room for their matrices.
template <class Scalar>
void run_solves(KeysOnDevice<Scalar>& keys, const std::stop_token& stop) {
  const Index K = keys.K();
  const Index H = keys.heads();
  const Index at_once = fitting(sizeof(Scalar) * static_cast<double>(H * K * K), keys.T());
  DeviceMatrices<Scalar> R(H, K, K), room(H, K, K), all_R(H * at_once, K, K);
  computing<Scalar>({&keys.P()}, [&] {
    invert_symmetric(H, K, keys.P().data(), room.data(), R.data());
    for (Index first = 0; first < keys.T(); first += at_once) {
      stop_if_asked(stop);
      const LeastSquaresTokens<Scalar> some = keys.tokens(first, std::min(at_once, keys.T() - first));
      collect_keys(some, R.data(), all_R.data());
      solve_gains(some, all_R.data());
    }
    invert_symmetric(H, K, R.data(), room.data(), keys.P().data());
  });
}

template <class Scalar>
class LeastSquaresEngine : public CudaEngine<LeastSquaresKeys, Scalar> {
 public:
  using CudaEngine<LeastSquaresKeys, Scalar>::CudaEngine;

 private:
  using Base = CudaEngine<LeastSquaresKeys, Scalar>;
  using Base::rounding_;

  Matrix<Scalar> step(const EngineRequest& request, const LeastSquaresKeys<Scalar>& rows,
                      Carried<Scalar>& state) const override {
    if (request.form == Form::parallel) return std::move(run_heads(request, {&rows, 1}, {&state, 1}).front());
    KeysOnDevice<Scalar> on_device({&rows, 1}, {&state, 1}, rounding_);
    run_keys(on_device, {});
    state.front() = on_device.P().matrix();
    if (request.tap && rows.k.rows() > 0) (*request.tap)("along", on_device.along().matrix().transpose());
    return on_device.gains().matrix();
  }

  typename Base::Outputs run_heads(const EngineRequest& request, typename Base::Heads heads,
                                   typename Base::States states) const override {
    KeysOnDevice<Scalar> on_device(heads, states, rounding_);
    if (request.form == Form::parallel) {
      run_solves(on_device, request.stop);
    } else {
      run_keys(on_device, request.stop);
    }
    download_part(on_device.P(), states, 0);
    return on_device.gains().download();
  }
};

}  // namespace

template <class Scalar>
OwnedEngine<LeastSquaresKeys, Scalar> least_squares_engine(Rounding rounding) {
  return std::make_unique<LeastSquaresEngine<Scalar>>(rounding);
}

template OwnedEngine<LeastSquaresKeys, double> least_squares_engine(Rounding);
template OwnedEngine<LeastSquaresKeys, float> least_squares_engine(Rounding);

}  // namespace palimpsest::cuda
