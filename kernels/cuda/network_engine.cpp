#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "kernels/cuda/engine.h"
#include "kernels/cuda/network.h"

namespace palimpsest::cuda {

namespace {

/// Networks of all heads and their tokens, uploaded once, with room for what a piece makes. What a tap
/// receives of that stands under its names; a piece of the primal form is one token, and its rows are columns
/// there.
template <class Scalar>
class NetworksOnDevice {
 public:
  /// `L`: tokens of the largest piece.
  NetworksOnDevice(std::span<const NetworkRows<Scalar>> heads, std::span<Carried<Scalar>> carried, Index L,
                   bool dual, Rounding rounding, Recorder* tap = nullptr)
      : device(heads, carried, rounding, tap), plan_(heads.front().network->plan()), L_(L), dual_(dual) {
    if (plan_.layers() > largest_layer_count)
      throw Error("a network of " + std::to_string(plan_.layers()) +
                  " layers; the CUDA kernels hold at most " + std::to_string(largest_layer_count));
    using Rows = NetworkRows<Scalar>;
    DeviceMatrices<Scalar>& keys = device.rows(&Rows::K);
    DeviceMatrices<Scalar>& values = device.rows(&Rows::V);
    for (std::size_t p = 0; p < carried.front().size(); ++p) carried_.push_back(&device.state(p));
    view = {.heads = device.count(),
            .T = keys.rows(),
            .K = keys.columns(),
            .V = values.columns(),
            .L = L,
            .Q = device.rows(&Rows::Q).data(),
            .keys = keys.data(),
            .values = values.data(),
            .eta = device.upload(&Rows::eta).data(),
            .sigma = device.upload(&Rows::sigma).data(),
            .O = device.outputs(values.rows(), values.columns()).data(),
            .layers = static_cast<int>(plan_.layers())};
    for (std::size_t l = 0; l < plan_.layers(); ++l)
      view.layer[l] = make_layer(l, heads.front().network->norm().has_value());
    if (heads.front().network->norm()) upload_norms();
  }

  HeadsOnDevice<NetworkRows, Scalar> device;
  Networks<Scalar> view;

  /// Parameters, then the sums of their gradients; all is one head.
  Carried<Scalar> download_carried() const {
    Carried<Scalar> all;
    for (const DeviceMatrices<Scalar>* const each : carried_) all.push_back(each->matrix());
    return all;
  }

  /// The last token's own parameters, in the order of plan.parameters().
  Carried<Scalar> own() const {
    Carried<Scalar> all;
    for (std::size_t l = 0; l < plan_.layers(); ++l) {
      const NetworkLayer<Scalar>& layer = view.layer[l];
      all.push_back(downloaded(layer.own_weights, layer.inputs, layer.outputs));
      if (plan_.has_biases()) all.push_back(downloaded(layer.own_bias, 1, layer.outputs));
    }
    return all;
  }

 private:
  Scalar* make(std::string_view name, Index rows, Index columns) {
    return device.make(name, rows, columns).data();
  }

  /// Rows of a piece.
  Scalar* make_rows(const std::string& name, Index columns) {
    return dual_ ? make(capitalised(name), L_, columns) : make(name, columns, L_);
  }

  NetworkLayer<Scalar> make_layer(std::size_t l, bool has_norm) {
    const bool biases = plan_.has_biases();
    const std::size_t weights = biases ? 2 * l : l;
    const std::size_t sums = carried_.size() / 2;
    const Index D = carried_[weights]->rows();
    const Index E = carried_[weights]->columns();
    const bool is_last = l + 1 == plan_.layers();
    NetworkLayer<Scalar> layer = {.inputs = D,
                                  .outputs = E,
                                  .weights = carried_[weights]->data(),
                                  .weights_sum = carried_[sums + weights]->data(),
                                  .own_weights = make("", D, E),
                                  .Z = make_rows(is_last ? "y" : "z", E),
                                  .G = make_rows("g" + plan_.suffix(l), E),
                                  .step = make("", L_, E),
                                  .P = dual_ ? make("P" + plan_.suffix(l), L_, L_) : nullptr};
    if (biases) {
      layer.bias = carried_[weights + 1]->data();
      layer.bias_sum = carried_[sums + weights + 1]->data();
      layer.own_bias = make("", 1, E);
    }
    layer.Z_q = is_last && !has_norm ? make("", L_, E) : make_rows(is_last ? "y_q" : "z_q", E);
    if (is_last) return layer;
    layer.hidden = make_rows("h", E);
    layer.X = make_rows("x", E);
    return layer;
  }

  void upload_norms() {
    const auto upload = [&](auto of) {
      return device
          .upload([&](const NetworkRows<Scalar>& each) -> Matrix<Scalar> {
            return std::invoke(of, *each.network->norm());
          })
          .data();
    };
    view.gain = upload(&LayerNorm<Scalar>::gain);
    view.norm_bias = upload(&LayerNorm<Scalar>::bias);
    view.eps = upload([](const LayerNorm<Scalar>& norm) -> Matrix<Scalar> {
      return Matrix<Scalar>::Constant(1, 1, norm.eps);
    });
    view.standardised = make_rows("y_hat", view.V);
    view.deviation = make_rows("deviation", 1);
    view.error = make_rows("e", view.V);
    view.delta = make_rows("delta", view.V);
  }

  NetworkPlan plan_;
  Index L_;
  bool dual_;
  std::vector<DeviceMatrices<Scalar>*> carried_;
};

/// One piece of one head.
template <class Scalar>
Matrix<Scalar> one_piece(const NetworkRows<Scalar>& rows, Carried<Scalar>& carried, bool dual,
                         Recorder* recorder, Rounding rounding) {
  const Index L = rows.K.rows();
  NetworksOnDevice<Scalar> networks({&rows, 1}, {&carried, 1}, L, dual, rounding, recorder);
  networks.view.walk_piece(dual);
  if (recorder) {
    // Both ways leave the sums; with them the weights of the last token are the same.
    networks.view.make_own_weights(L - 1, false);
    const NetworkPlan& plan = rows.network->plan();
    const std::vector<std::string> names = plan.parameters();
    const Carried<Scalar> sums = networks.download_carried();
    const Carried<Scalar> own = networks.own();
    const char* before = dual ? "_in" : "_before";
    const char* after = dual ? "_out" : "_after";
    for (std::size_t p = 0; p < names.size(); ++p) {
      const bool is_bias = plan.has_biases() && p % 2 == 1;
      const auto record = [&](const std::string& name, const Matrix<Scalar>& value) {
        (*recorder)(name, is_bias ? Matrix<Scalar>(value.transpose()) : value);
      };
      record(names[p] + "_start", carried[p]);
      record("sum_" + names[p] + before, carried[names.size() + p]);
      record("sum_" + names[p] + after, sums[names.size() + p]);
      record(names[p] + after, own[p]);
    }
    networks.device.record();
  }
  if (rows.ends_batch) networks.view.make_own_weights(L - 1, true);
  return std::move(networks.device.finish().front());
}

/// Some pieces at a time, so that a run can be stopped.
template <class Scalar>
void run_pieces(NetworksOnDevice<Scalar>& networks, const InnerBatches& pieces, bool dual,
                const std::stop_token& stop) {
  constexpr Index tokens_between_stops = 1024;
  const Index count = pieces.piece_count();
  const Index batch = count > 0 ? pieces.batch_size(0) : 1;
  const Index at_once = std::max<Index>(tokens_between_stops / networks.view.L, 1);
  networks.device.compute([&] {
    for (Index index = 0; index < count; index += at_once) {
      stop_if_asked(stop);
      const Index next = index + at_once;
      networks.view.walk(dual, batch, pieces.piece(index).first,
                         next < count ? pieces.piece(next).first : Index{networks.view.T});
      await_device();
    }
  });
}

/// Numbers that one head takes, rather too many.
template <class Scalar>
double numbers(const NetworkRows<Scalar>& rows, const Carried<Scalar>& carried, Index L, bool dual) {
  const auto n = static_cast<double>(L);
  double of_parameters = 0;
  double widths = 4 * static_cast<double>(rows.V.cols());
  for (const Matrix<Scalar>& parameter : carried) {
    of_parameters += 2 * static_cast<double>(parameter.size());
    widths += 3 * static_cast<double>(parameter.cols());
  }
  const auto of_a_token = static_cast<double>(2 * (rows.K.cols() + rows.V.cols() + 1));
  return of_parameters + n * widths + (dual ? largest_layer_count * n * n : 0) +
         static_cast<double>(rows.K.rows()) * of_a_token + 1;
}

}  // namespace

template <class Scalar>
class FamilyEngine<NetworkRows, Scalar> : public CudaEngine<NetworkRows, Scalar> {
 public:
  using Base = CudaEngine<NetworkRows, Scalar>;
  using Base::Base;

 private:
  Matrix<Scalar> step(const EngineRequest& request, const NetworkRows<Scalar>& rows,
                      Carried<Scalar>& state) const override {
    return one_piece(rows, state, request.form != Form::recurrent, request.tap, this->rounding_);
  }

  static InnerBatches pieces_of(const EngineRequest& request, const NetworkRows<Scalar>& head) {
    const Index tokens = head.K.rows();
    return {tokens, std::min(head.batch, std::max<Index>(tokens, 1)),
            request.form == Form::recurrent ? 1 : request.chunk_size};
  }

  double bytes(const EngineRequest& request, const NetworkRows<Scalar>& head,
               const Carried<Scalar>& carried) const override {
    return sizeof(Scalar) *
           numbers(head, carried, pieces_of(request, head).largest_piece(), request.form != Form::recurrent);
  }

  typename Base::Outputs run_heads(const EngineRequest& request, typename Base::Heads heads,
                                   typename Base::States states) const override {
    const bool dual = request.form != Form::recurrent;
    const InnerBatches pieces = pieces_of(request, heads.front());
    const Index L = std::max<Index>(pieces.largest_piece(), 1);
    NetworksOnDevice<Scalar> networks(heads, states, L, dual, this->rounding_);
    run_pieces(networks, pieces, dual, request.stop);
    return networks.device.finish();
  }
};

template OwnedEngine<NetworkRows, double> make_engine(Rounding);
template OwnedEngine<NetworkRows, float> make_engine(Rounding);

}  // namespace palimpsest::cuda
