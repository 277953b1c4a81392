#include "core/engines/least_squares.h"

#include <Eigen/Cholesky>

#include "core/base/stop.h"

namespace palimpsest {

template <class Scalar>
Matrix<Scalar> symmetric_inverse(const Matrix<Scalar>& R) {
  const Matrix<Scalar> P = R.ldlt().solve(Matrix<Scalar>::Identity(R.rows(), R.cols()));
  return (P + P.transpose()) / Scalar(2);
}

template <class Scalar>
Matrix<Scalar> least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Matrix<Scalar>& P,
                                   Recorder* recorder) {
  Matrix<Scalar> all(keys.k.rows(), keys.k.cols());
  for (Index t = 0; t < keys.k.rows(); ++t) {
    const Vector<Scalar> k = keys.k.row(t).transpose();
    const Scalar gamma = keys.gamma(t, 0);
    const Scalar beta = keys.beta(t, 0);
    const Vector<Scalar> along = P * k;
    const Scalar share = beta / (gamma + beta * k.dot(along));
    all.row(t) = share * along.transpose();
    const Matrix<Scalar> seen = along * along.transpose();
    P = (P - share * seen) / gamma;
    if (recorder) (*recorder)("along", along);
  }
  return all;
}

template <class Scalar>
Matrix<Scalar> solved_least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Matrix<Scalar>& P,
                                          const std::stop_token& stop) {
  Matrix<Scalar> R = symmetric_inverse(P);
  Matrix<Scalar> all(keys.k.rows(), keys.k.cols());
  for (Index t = 0; t < keys.k.rows(); ++t) {
    stop_if_asked(stop);
    const Vector<Scalar> k = keys.k.row(t).transpose();
    const Matrix<Scalar> seen = k * k.transpose();
    R = keys.gamma(t, 0) * R + keys.beta(t, 0) * seen;
    all.row(t) = keys.beta(t, 0) * R.ldlt().solve(k).transpose();
  }
  P = symmetric_inverse(R);
  return all;
}

#define PALIMPSEST_INSTANTIATE(Scalar)                                                                      \
  template Matrix<Scalar> symmetric_inverse(const Matrix<Scalar>&);                                         \
  template Matrix<Scalar> least_squares_gains(const LeastSquaresKeys<Scalar>&, Matrix<Scalar>&, Recorder*); \
  template Matrix<Scalar> solved_least_squares_gains(const LeastSquaresKeys<Scalar>&, Matrix<Scalar>&,      \
                                                     const std::stop_token&);
PALIMPSEST_INSTANTIATE(double)
PALIMPSEST_INSTANTIATE(float)
#undef PALIMPSEST_INSTANTIATE

}  // namespace palimpsest
