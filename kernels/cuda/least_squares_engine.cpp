#include "kernels/cuda/engine.h"
#include "kernels/cuda/least_squares.h"

namespace palimpsest::cuda {

template <class Scalar>
class FamilyRun<LeastSquaresKeys, Scalar> : public AnyFamily {
 public:
  using Keys = LeastSquaresKeys<Scalar>;
  using Tokens = LeastSquaresTokens<Scalar>;

  explicit FamilyRun(HeadsOnDevice<LeastSquaresKeys, Scalar>& device) : device_(device) {}

  std::vector<Matrix<Scalar>> run() {
    DeviceMatrices<Scalar>& k = device_.rows(&Keys::k);
    DeviceMatrices<Scalar>& gains = device_.make("", k.rows(), k.columns());
    Scalar* const P = device_.state(0).data();
    all_ = {.heads = k.heads(),
            .T = k.rows(),
            .K = k.columns(),
            .k = k,
            .gamma = device_.upload(&Keys::gamma),
            .beta = device_.upload(&Keys::beta),
            .gains = gains};
    if (device_.request.form == Form::parallel)
      solve(P);
    else
      walk(P);
    device_.download_states();
    return gains.download();
  }

 private:
  /// Key after key; a tap receives what the last one makes.
  void walk(Scalar* P) {
    constexpr Index at_once = 1024;
    Scalar* const along = device_.make("along", all_.K, 1).data();
    device_.compute([&] {
      device_.in_parts(all_.T, at_once,
                       [&](Index first, Index count) { some_tokens(first, count).walk(P, along); });
    });
    if (all_.T > 0) device_.record_all();
  }

  /// Some tokens of all heads at a time: as many as there is room for their matrices.
  void solve(Scalar* P) {
    const Index K = all_.K;
    const Index at_once = fitting(sizeof(Scalar) * static_cast<double>(all_.heads * K * K), all_.T);
    Scalar* const R = device_.make("", K, K).data();
    Scalar* const room = device_.make("", K, K).data();
    Scalar* const all_R = device_.make("", all_.heads * at_once, K, K).data();
    device_.compute([&] {
      all_.invert(P, room, R);
      device_.in_parts(all_.T, at_once, [&](Index first, Index count) {
        const Tokens some = some_tokens(first, count);
        some.collect(R, all_R);
        some.solve(all_R);
      });
      all_.invert(R, room, P);
    });
  }

  /// `count` tokens from `first` on.
  Tokens some_tokens(Index first, Index count) const {
    Tokens some = all_;
    some.T = count;
    for (auto* const rows : {&some.k, &some.gamma, &some.beta}) *rows = rows->from(0, first);
    some.gains = some.gains.from(0, first);
    return some;
  }

  HeadsOnDevice<LeastSquaresKeys, Scalar>& device_;
  Tokens all_;
};

PALIMPSEST_CUDA_ENGINES(, LeastSquaresKeys);

}  // namespace palimpsest::cuda
