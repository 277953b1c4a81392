#include "kernels/cuda/products.h"

#include "kernels/cuda/matrices.h"
#include "kernels/cuda/products_kernel.h"

namespace palimpsest::cuda {

template <class Scalar>
Matrix<Scalar> read(const Matrix<Scalar>& Q, const Matrix<Scalar>& S) {
  DeviceMatrices<Scalar> on_device_Q(Q);
  DeviceMatrices<Scalar> on_device_S(S);
  DeviceMatrices<Scalar> O(1, Q.rows(), S.cols());
  multiply(on_device_Q.data(), on_device_S.data(), O.data(), Q.rows(), Q.cols(), S.cols());
  return O.matrix();
}

template Matrix<double> read(const Matrix<double>&, const Matrix<double>&);
template Matrix<float> read(const Matrix<float>&, const Matrix<float>&);

}  // namespace palimpsest::cuda
