#include "core/engines/inner_network.h"

#include "core/engines/network_batch.h"

namespace palimpsest {

std::vector<std::string> NetworkPlan::parameters() const {
  std::vector<std::string> names;
  for (std::size_t layer = 0; layer < layers(); ++layer) {
    names.push_back(weights[layer]);
    if (has_biases()) names.push_back(biases[layer]);
  }
  return names;
}

template <class Scalar>
Matrix<Scalar> InnerNetwork<Scalar>::primal(const NetworkRows<Scalar>& token, Carried<Scalar>& carried,
                                            Recorder* recorder) const {
  return NetworkBatch<Scalar, EigenProducts>{*this, token, carried, recorder, true}.primal();
}

template <class Scalar>
Matrix<Scalar> InnerNetwork<Scalar>::dual(const NetworkRows<Scalar>& rows, Carried<Scalar>& carried,
                                          Recorder* recorder) const {
  return NetworkBatch<Scalar, EigenProducts>{*this, rows, carried, recorder, false}.dual();
}

template class InnerNetwork<double>;
template class InnerNetwork<float>;

}  // namespace palimpsest
