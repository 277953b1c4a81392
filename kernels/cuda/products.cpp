#include "kernels/cuda/products.h"

#include "kernels/cuda/matrices.h"
#include "kernels/cuda/products_kernel.h"

namespace palimpsest::cuda {

template <class Scalar>
Matrix<Scalar> read(const Matrix<Scalar>& Q, const Matrix<Scalar>& S, Rounding rounding) {
  DeviceMatrices<Scalar> on_device_Q(Q);
  DeviceMatrices<Scalar> on_device_S(S);
  on_device_Q.round(rounding);
  DeviceMatrices<Scalar> O(1, Q.rows(), S.cols());
  multiply(on_device_Q.data(), on_device_S.data(), O.data(), Q.rows(), Q.cols(), S.cols());
  O.round(rounding);
  return O.matrix();
}

template Matrix<double> read(const Matrix<double>&, const Matrix<double>&, Rounding rounding);
template Matrix<float> read(const Matrix<float>&, const Matrix<float>&, Rounding rounding);

}  // namespace palimpsest::cuda
