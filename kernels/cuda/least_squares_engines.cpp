#include "kernels/cuda/least_squares_engines.h"

#include <algorithm>

#include "core/base/stop.h"
#include "kernels/cuda/computing.h"
#include "kernels/cuda/head_groups.h"
#include "kernels/cuda/least_squares.h"
#include "kernels/cuda/matrices.h"

namespace palimpsest::cuda {

namespace {

/// The keys of all heads, uploaded once, with P and room for the gains.
template <class Scalar>
class KeysOnDevice {
 public:
  KeysOnDevice(std::span<const LeastSquaresKeys<Scalar>> heads, std::span<const Matrix<Scalar>> P,
               Rounding rounding) {
    const auto count = static_cast<Index>(heads.size());
    const auto upload = [&](DeviceMatrices<Scalar>& to, const Matrix<Scalar> LeastSquaresKeys<Scalar>::*of) {
      to = DeviceMatrices<Scalar>::of_heads(count, [&](Index head) -> const Matrix<Scalar>& {
        return heads[static_cast<std::size_t>(head)].*of;
      });
      return to.view();
    };
    using Keys = LeastSquaresKeys<Scalar>;
    const Matrix<Scalar>& first = heads.front().k;
    P_ = DeviceMatrices<Scalar>::of_heads(
        count, [&](Index head) -> const Matrix<Scalar>& { return P[static_cast<std::size_t>(head)]; });
    along_ = DeviceMatrices<Scalar>(count, 1, first.cols());
    gains_ = DeviceMatrices<Scalar>(count, first.rows(), first.cols());
    tokens_ = {.heads = count,
               .T = first.rows(),
               .K = first.cols(),
               .k = upload(k_, &Keys::k),
               .gamma = upload(gamma_, &Keys::gamma),
               .beta = upload(beta_, &Keys::beta),
               .gains = gains_.template view<Scalar>()};
    k_.round(rounding);
  }

  /// `count` tokens from `first` on.
  LeastSquaresTokens<Scalar> tokens(Index first, Index count) const {
    LeastSquaresTokens<Scalar> some = tokens_;
    const auto skip = [first](auto& rows) {
      if (rows.data) rows.data += first * rows.token_stride;
    };
    skip(some.k);
    skip(some.gamma);
    skip(some.beta);
    skip(some.gains);
    some.T = count;
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

}  // namespace

template <class Scalar>
Matrix<Scalar> least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Matrix<Scalar>& P,
                                   Recorder* recorder, Rounding rounding) {
  KeysOnDevice<Scalar> on_device({&keys, 1}, {&P, 1}, rounding);
  run_keys(on_device, {});
  P = on_device.P().matrix();
  if (recorder && keys.k.rows() > 0) (*recorder)("along", on_device.along().matrix().transpose());
  return on_device.gains().matrix();
}

template <class Scalar>
Matrix<Scalar> solved_least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Matrix<Scalar>& P,
                                          const std::stop_token& stop, Rounding rounding) {
  return std::move(run_gains<Scalar>({&keys, 1}, true, {&P, 1}, stop, rounding).front());
}

template <class Scalar>
std::vector<Matrix<Scalar>> run_gains(std::span<const LeastSquaresKeys<Scalar>> heads, bool solved,
                                      std::span<Matrix<Scalar>> P, const std::stop_token& stop,
                                      Rounding rounding) {
  KeysOnDevice<Scalar> on_device(heads, P, rounding);
  if (solved) {
    run_solves(on_device, stop);
  } else {
    run_keys(on_device, stop);
  }
  std::vector<Matrix<Scalar>> after = on_device.P().download();
  std::ranges::move(after, P.begin());
  return on_device.gains().download();
}

#define PALIMPSEST_INSTANTIATE(Scalar)                                                                     \
  template Matrix<Scalar> least_squares_gains(const LeastSquaresKeys<Scalar>&, Matrix<Scalar>&, Recorder*, \
                                              Rounding);                                                   \
  template Matrix<Scalar> solved_least_squares_gains(const LeastSquaresKeys<Scalar>&, Matrix<Scalar>&,     \
                                                     const std::stop_token&, Rounding);                    \
  template std::vector<Matrix<Scalar>> run_gains(std::span<const LeastSquaresKeys<Scalar>>, bool,          \
                                                 std::span<Matrix<Scalar>>, const std::stop_token&,        \
                                                 Rounding);
PALIMPSEST_INSTANTIATE(double)
PALIMPSEST_INSTANTIATE(float)
#undef PALIMPSEST_INSTANTIATE

}  // namespace palimpsest::cuda
