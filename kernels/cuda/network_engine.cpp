#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "kernels/cuda/engine.h"
#include "kernels/cuda/engines.h"
#include "kernels/cuda/network.h"

namespace palimpsest::cuda {

namespace {

/// Networks of all heads and their tokens, uploaded once, with room for what a piece makes.
template <class Scalar>
class NetworksOnDevice {
 public:
  /// `L`: tokens of the largest piece.
  NetworksOnDevice(std::span<const NetworkRows<Scalar>> heads, std::span<const Carried<Scalar>> carried,
                   Index L, bool dual, Rounding rounding)
      : plan_(heads.front().network->plan()),
        rounding_(rounding),
        heads_(static_cast<Index>(heads.size())),
        Q_(DeviceMatrices<Scalar>::of_heads(heads, &NetworkRows<Scalar>::Q)),
        K_(DeviceMatrices<Scalar>::of_heads(heads, &NetworkRows<Scalar>::K)),
        V_(DeviceMatrices<Scalar>::of_heads(heads, &NetworkRows<Scalar>::V)),
        eta_(DeviceMatrices<Scalar>::of_heads(heads, &NetworkRows<Scalar>::eta)),
        sigma_(DeviceMatrices<Scalar>::of_heads(heads, &NetworkRows<Scalar>::sigma)),
        O_(heads_, V_.rows(), V_.columns()) {
    if (plan_.layers() > largest_layer_count)
      throw Error("a network of " + std::to_string(plan_.layers()) +
                  " layers; the CUDA kernels hold at most " + std::to_string(largest_layer_count));
    for (DeviceMatrices<Scalar>* const rows : {&Q_, &K_, &V_}) rows->round(rounding);
    view_.heads = heads_;
    view_.T = K_.rows();
    view_.K = K_.columns();
    view_.V = V_.columns();
    view_.L = L;
    view_.Q = Q_.data();
    view_.keys = K_.data();
    view_.values = V_.data();
    view_.eta = eta_.data();
    view_.sigma = sigma_.data();
    view_.O = O_.data();
    for (std::size_t p = 0; p < carried.front().size(); ++p) {
      carried_.push_back(upload_part(carried, p));
    }
    view_.layers = static_cast<int>(plan_.layers());
    for (std::size_t l = 0; l < plan_.layers(); ++l) lay_out(l, dual);
    if (heads.front().network->norm()) upload_norms(heads);
  }

  const Networks<Scalar>& view() const { return view_; }

  /// What every head answers.
  std::vector<Matrix<Scalar>> outputs() {
    O_.round(rounding_);
    return O_.download();
  }

  /// Parameters, then the sums of their gradients.
  std::vector<DeviceMatrices<Scalar>*> carried() {
    std::vector<DeviceMatrices<Scalar>*> all;
    for (DeviceMatrices<Scalar>& each : carried_) all.push_back(&each);
    return all;
  }

  /// The same, downloaded.
  Carried<Scalar> download_carried() const {
    Carried<Scalar> all;
    for (const DeviceMatrices<Scalar>& each : carried_) all.push_back(each.matrix());
    return all;
  }

  void download_carried(std::span<Carried<Scalar>> to) const {
    for (std::size_t p = 0; p < carried_.size(); ++p) download_part(carried_[p], to, p);
  }

  /// What the network computed of one piece, besides what is carried; all is one head.
  void record_rows(Recorder& recorder, bool of_token) const {
    const auto rows = [&](const std::string& name, const DeviceMatrices<Scalar>& value) {
      recorder.rows(name, of_token, value.matrix());
    };
    const std::size_t last = plan_.layers() - 1;
    for (std::size_t l = 0; l <= last; ++l) {
      const Layer& layer = layers_[l];
      rows(l < last ? "z" : "y", layer.Z);
      rows("g" + plan_.suffix(l), layer.G);
      if (l < last) rows("h", layer.hidden);
      if (l < last) rows("z_q", layer.Z_q);
      if (l < last) rows("x", layer.X);
      if (layer.P.rows() > 0) recorder("P" + plan_.suffix(l), layer.P.matrix());
    }
    if (!view_.gain) return;
    rows("y_q", layers_[last].Z_q);
    rows("y_hat", standardised_);
    rows("deviation", deviation_);
    rows("e", error_);
    rows("delta", delta_);
  }

  /// The last token's own parameters, in the order of plan.parameters().
  Carried<Scalar> own() const {
    Carried<Scalar> all;
    for (std::size_t l = 0; l < plan_.layers(); ++l) {
      all.push_back(layers_[l].own_weights.matrix());
      if (plan_.has_biases()) all.push_back(layers_[l].own_bias.matrix());
    }
    return all;
  }

 private:
  struct Layer {
    DeviceMatrices<Scalar> own_weights, own_bias, Z, G, step, P, Z_q, hidden, X;
  };

  void lay_out(std::size_t l, bool dual) {
    const bool biases = plan_.has_biases();
    const std::size_t weights = biases ? 2 * l : l;
    const std::size_t sums = carried_.size() / 2;
    const Index D = carried_[weights].rows();
    const Index E = carried_[weights].columns();
    const Index L = view_.L;
    const auto room = [&](DeviceMatrices<Scalar>& to, Index rows, Index columns) {
      to = DeviceMatrices<Scalar>(heads_, rows, columns);
      return to.data();
    };
    Layer& room_of = layers_[l];
    NetworkLayer<Scalar>& layer = view_.layer[l];
    layer.inputs = D;
    layer.outputs = E;
    layer.weights = carried_[weights].data();
    layer.weights_sum = carried_[sums + weights].data();
    layer.own_weights = room(room_of.own_weights, D, E);
    if (biases) {
      layer.bias = carried_[weights + 1].data();
      layer.bias_sum = carried_[sums + weights + 1].data();
      layer.own_bias = room(room_of.own_bias, 1, E);
    }
    layer.Z = room(room_of.Z, L, E);
    layer.G = room(room_of.G, L, E);
    layer.step = room(room_of.step, L, E);
    if (dual) layer.P = room(room_of.P, L, L);
    layer.Z_q = room(room_of.Z_q, L, E);
    if (l + 1 == plan_.layers()) return;
    layer.hidden = room(room_of.hidden, L, E);
    layer.X = room(room_of.X, L, E);
  }

  void upload_norms(std::span<const NetworkRows<Scalar>> heads) {
    const auto upload = [&](DeviceMatrices<Scalar>& to, auto of) {
      to = DeviceMatrices<Scalar>::of_heads(heads, [&](const NetworkRows<Scalar>& each) -> Matrix<Scalar> {
        return std::invoke(of, *each.network->norm());
      });
      return to.data();
    };
    view_.gain = upload(gain_, &LayerNorm<Scalar>::gain);
    view_.norm_bias = upload(norm_bias_, &LayerNorm<Scalar>::bias);
    view_.eps = upload(eps_, [](const LayerNorm<Scalar>& norm) -> Matrix<Scalar> {
      return Matrix<Scalar>::Constant(1, 1, norm.eps);
    });
    const auto room = [&](DeviceMatrices<Scalar>& to, Index columns) {
      to = DeviceMatrices<Scalar>(heads_, view_.L, columns);
      return to.data();
    };
    view_.standardised = room(standardised_, view_.V);
    view_.deviation = room(deviation_, 1);
    view_.error = room(error_, view_.V);
    view_.delta = room(delta_, view_.V);
  }

  NetworkPlan plan_;
  Rounding rounding_;
  Index heads_;
  DeviceMatrices<Scalar> Q_, K_, V_, eta_, sigma_, O_;
  std::vector<DeviceMatrices<Scalar>> carried_;
  Layer layers_[largest_layer_count];
  DeviceMatrices<Scalar> gain_, norm_bias_, eps_, standardised_, deviation_, error_, delta_;
  Networks<Scalar> view_;
};

/// One piece of one head.
template <class Scalar>
Matrix<Scalar> one_piece(const NetworkRows<Scalar>& rows, Carried<Scalar>& carried, bool dual,
                         Recorder* recorder, Rounding rounding) {
  const Index L = rows.K.rows();
  NetworksOnDevice<Scalar> device({&rows, 1}, {&carried, 1}, L, dual, rounding);
  walk_piece(device.view(), dual);
  if (recorder) {
    // Both ways leave the sums; with them the weights of the last token are the same.
    make_own_weights(device.view(), L - 1, false);
    const NetworkPlan& plan = rows.network->plan();
    const std::vector<std::string> names = plan.parameters();
    const Carried<Scalar> sums = device.download_carried();
    const Carried<Scalar> own = device.own();
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
    device.record_rows(*recorder, !dual);
  }
  if (rows.ends_batch) make_own_weights(device.view(), L - 1, true);
  carried = device.download_carried();
  return std::move(device.outputs().front());
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

template <class Scalar>
class NetworkEngine : public CudaEngine<NetworkRows, Scalar> {
 public:
  using CudaEngine<NetworkRows, Scalar>::CudaEngine;

 private:
  using Base = CudaEngine<NetworkRows, Scalar>;
  using Base::rounding_;

  Matrix<Scalar> step(const EngineRequest& request, const NetworkRows<Scalar>& rows,
                      Carried<Scalar>& state) const override {
    return one_piece(rows, state, request.form != Form::recurrent, request.tap, rounding_);
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
    constexpr Index tokens_between_stops = 1024;
    const bool dual = request.form != Form::recurrent;
    const InnerBatches pieces = pieces_of(request, heads.front());
    const Index L = std::max<Index>(pieces.largest_piece(), 1);
    const Index T = heads.front().K.rows();
    const Index batch = pieces.piece_count() > 0 ? pieces.batch_size(0) : 1;
    NetworksOnDevice<Scalar> device(heads, states, L, dual, rounding_);
    const Index at_once = std::max<Index>(tokens_between_stops / L, 1);
    computing<Scalar>(device.carried(), [&] {
      for (Index index = 0; index < pieces.piece_count(); index += at_once) {
        stop_if_asked(request.stop);
        const Index next = index + at_once;
        walk_networks(device.view(), dual, batch, pieces.piece(index).first,
                      next < pieces.piece_count() ? pieces.piece(next).first : T);
        CHECK_CUDA(
            cudaStreamSynchronize(nullptr));  // or all would be under way before anyone could ask to stop
      }
    });
    device.download_carried(states);
    return device.outputs();
  }
};

}  // namespace

template <class Scalar>
OwnedEngine<NetworkRows, Scalar> network_engine(Rounding rounding) {
  return std::make_unique<NetworkEngine<Scalar>>(rounding);
}

template OwnedEngine<NetworkRows, double> network_engine(Rounding);
template OwnedEngine<NetworkRows, float> network_engine(Rounding);

}  // namespace palimpsest::cuda
