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
Matrix<Scalar> compute_block(const EngineRequest& request, const NetworkRows<Scalar>& rows,
                             Carried<Scalar>& carried) {
  const bool is_token = request.form == Form::recurrent;
  NetworkBatch<Scalar, EigenProducts> batch{*rows.network, rows, carried, request.tap, is_token};
  return is_token ? batch.primal() : batch.dual();
}

template Matrix<double> compute_block(const EngineRequest&, const NetworkRows<double>&, Carried<double>&);
template Matrix<float> compute_block(const EngineRequest&, const NetworkRows<float>&, Carried<float>&);

}  // namespace palimpsest
