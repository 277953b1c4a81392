#include <algorithm>

#include "core/base/stop.h"
#include "kernels/cuda/engine.h"
#include "kernels/cuda/least_squares.h"

namespace palimpsest::cuda {

namespace {

/// `count` tokens from `first` on.
template <class Scalar>
LeastSquaresTokens<Scalar> some_tokens(LeastSquaresTokens<Scalar> all, Index first, Index count) {
  all.T = count;
  all.k = all.k.from(0, first);
  all.gamma = all.gamma.from(0, first);
  all.beta = all.beta.from(0, first);
  all.gains = all.gains.from(0, first);
  return all;
}

/// Some keys at a time, so that a run can be stopped.
template <class Scalar>
void run_keys(HeadsOnDevice<LeastSquaresKeys, Scalar>& device, const LeastSquaresTokens<Scalar>& all,
              Scalar* P, Scalar* along, const std::stop_token& stop) {
  constexpr Index at_once = 1024;
  device.compute([&] {
    for (Index first = 0; first < all.T; first += at_once) {
      stop_if_asked(stop);
      some_tokens(all, first, std::min<Index>(at_once, all.T - first)).walk(P, along);
    }
  });
}

/// Some tokens of all heads at a time: as many as there is room for their matrices.
template <class Scalar>
void run_solves(HeadsOnDevice<LeastSquaresKeys, Scalar>& device, const LeastSquaresTokens<Scalar>& all,
                Scalar* P, const std::stop_token& stop) {
  const Index K = all.K;
  const Index at_once = fitting(sizeof(Scalar) * static_cast<double>(all.heads * K * K), all.T);
  Scalar* const R = device.make("", K, K).data();
  Scalar* const room = device.make("", K, K).data();
  Scalar* const all_R = device.make("", all.heads * at_once, K, K).data();
  device.compute([&] {
    all.invert(P, room, R);
    for (Index first = 0; first < all.T; first += at_once) {
      stop_if_asked(stop);
      const LeastSquaresTokens<Scalar> some =
          some_tokens(all, first, std::min<Index>(at_once, all.T - first));
      some.collect(R, all_R);
      some.solve(all_R);
    }
    all.invert(R, room, P);
  });
}

}  // namespace

template <class Scalar>
class FamilyEngine<LeastSquaresKeys, Scalar> : public CudaEngine<LeastSquaresKeys, Scalar> {
 public:
  using Base = CudaEngine<LeastSquaresKeys, Scalar>;
  using Base::Base;

 private:
  Matrix<Scalar> step(const EngineRequest& request, const LeastSquaresKeys<Scalar>& rows,
                      Carried<Scalar>& state) const override {
    EngineRequest whole = request;
    if (rows.k.rows() == 0) whole.tap = nullptr;
    return std::move(run_heads(whole, {&rows, 1}, {&state, 1}).front());
  }

  typename Base::Outputs run_heads(const EngineRequest& request, typename Base::Heads heads,
                                   typename Base::States states) const override {
    using Keys = LeastSquaresKeys<Scalar>;
    typename Base::OnDevice device(heads, states, this->rounding_, request.tap);
    DeviceMatrices<Scalar>& k = device.rows(&Keys::k);
    DeviceMatrices<Scalar>& gains = device.make("", k.rows(), k.columns());
    Scalar* const P = device.state(0).data();
    const LeastSquaresTokens<Scalar> tokens = {.heads = k.heads(),
                                               .T = k.rows(),
                                               .K = k.columns(),
                                               .k = k,
                                               .gamma = device.upload(&Keys::gamma),
                                               .beta = device.upload(&Keys::beta),
                                               .gains = gains};
    if (request.form == Form::parallel) {
      run_solves(device, tokens, P, request.stop);
    } else {
      run_keys(device, tokens, P, device.make("along", k.columns(), 1).data(), request.stop);
      device.record();
    }
    device.download_states();
    return gains.download();
  }
};

template OwnedEngine<LeastSquaresKeys, double> make_engine(Rounding);
template OwnedEngine<LeastSquaresKeys, float> make_engine(Rounding);

}  // namespace palimpsest::cuda
