#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "kernels/cuda/engine.h"
#include "kernels/cuda/network.h"

namespace palimpsest::cuda {

/// Networks of all heads and their tokens, with room for what a piece makes. What a tap receives of that
/// stands under its names; a piece of the primal form is one token, and its rows are columns there.
template <class Scalar>
class FamilyRun<NetworkRows, Scalar> : public AnyFamily {
 public:
  using Rows = NetworkRows<Scalar>;

  explicit FamilyRun(HeadsOnDevice<NetworkRows, Scalar>& device)
      : device_(device),
        plan_(device.first().network->plan()),
        dual_(device.request.form != Form::recurrent),
        L_(largest_piece(device.request, device.first())) {
    if (plan_.layers() > largest_layer_count)
      throw Error("a network of " + std::to_string(plan_.layers()) +
                  " layers; the CUDA kernels hold at most " + std::to_string(largest_layer_count));
  }

  static double bytes(const EngineRequest& request, const Rows& head, const Carried<Scalar>& carried) {
    const bool dual = request.form != Form::recurrent;
    const auto n = static_cast<double>(pieces_of(request, head).largest_piece());
    double of_parameters = 0;
    double widths = 4 * static_cast<double>(head.V.cols());
    for (const Matrix<Scalar>& parameter : carried) {
      of_parameters += 2 * static_cast<double>(parameter.size());
      widths += 3 * static_cast<double>(parameter.cols());
    }
    const auto of_a_token = static_cast<double>(2 * (head.K.cols() + head.V.cols() + 1));
    return sizeof(Scalar) * (of_parameters + n * widths + (dual ? largest_layer_count * n * n : 0) +
                             static_cast<double>(head.K.rows()) * of_a_token + 1);
  }

  std::vector<Matrix<Scalar>> run() {
    upload();
    if (device_.request.phase)
      take_piece();
    else
      take_pieces();
    return device_.finish();
  }

 private:
  static InnerBatches pieces_of(const EngineRequest& request, const Rows& head) {
    const Index tokens = head.K.rows();
    return {tokens, std::min(head.batch, std::max<Index>(tokens, 1)),
            request.form == Form::recurrent ? 1 : request.chunk_size};
  }

  /// Tokens of a block, or of the largest piece of whole heads.
  static Index largest_piece(const EngineRequest& request, const Rows& head) {
    return request.phase ? head.K.rows() : std::max<Index>(pieces_of(request, head).largest_piece(), 1);
  }

  void upload() {
    DeviceMatrices<Scalar>& keys = device_.rows(&Rows::K);
    DeviceMatrices<Scalar>& values = device_.rows(&Rows::V);
    for (std::size_t p = 0; p < device_.states().front().size(); ++p) carried_.push_back(&device_.state(p));
    networks_ = {.heads = device_.count(),
                 .T = keys.rows(),
                 .K = keys.columns(),
                 .V = values.columns(),
                 .L = L_,
                 .Q = device_.rows(&Rows::Q).data(),
                 .keys = keys.data(),
                 .values = values.data(),
                 .eta = device_.upload(&Rows::eta).data(),
                 .sigma = device_.upload(&Rows::sigma).data(),
                 .O = device_.outputs(values.rows(), values.columns()).data(),
                 .layers = static_cast<int>(plan_.layers())};
    const bool has_norm = device_.first().network->norm().has_value();
    for (std::size_t l = 0; l < plan_.layers(); ++l) networks_.layer[l] = make_layer(l, has_norm);
    if (has_norm) upload_norms();
  }

  Scalar* make(std::string_view name, Index rows, Index columns) {
    return device_.make(name, rows, columns).data();
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
      return device_
          .upload([&](const Rows& each) -> Matrix<Scalar> { return std::invoke(of, *each.network->norm()); })
          .data();
    };
    networks_.gain = upload(&LayerNorm<Scalar>::gain);
    networks_.norm_bias = upload(&LayerNorm<Scalar>::bias);
    networks_.eps = upload([](const LayerNorm<Scalar>& norm) -> Matrix<Scalar> {
      return Matrix<Scalar>::Constant(1, 1, norm.eps);
    });
    networks_.standardised = make_rows("y_hat", networks_.V);
    networks_.deviation = make_rows("deviation", 1);
    networks_.error = make_rows("e", networks_.V);
    networks_.delta = make_rows("delta", networks_.V);
  }

  /// One piece of one head.
  void take_piece() {
    networks_.walk_piece(dual_);
    if (device_.request.tap) {
      // Both ways leave the sums; with them the weights of the last token are the same.
      networks_.make_own_weights(L_ - 1, false);
      record();
    }
    if (device_.first().ends_batch) networks_.make_own_weights(L_ - 1, true);
  }

  /// Some pieces at a time, so that a run can be stopped.
  void take_pieces() {
    constexpr Index tokens_between_stops = 1024;
    const InnerBatches pieces = pieces_of(device_.request, device_.first());
    const Index all = pieces.piece_count();
    const Index batch = all > 0 ? pieces.batch_size(0) : 1;
    const Index at_once = std::max<Index>(tokens_between_stops / L_, 1);
    device_.compute([&] {
      device_.in_parts(all, at_once, [&](Index first, Index count) {
        const Index next = first + count;
        networks_.walk(dual_, batch, pieces.piece(first).first,
                       next < all ? pieces.piece(next).first : Index{networks_.T});
        await_device();
      });
    });
  }

  /// Parameters, the sums of their gradients and the last token's own parameters, for the tap.
  void record() const {
    const std::vector<std::string> names = plan_.parameters();
    const Carried<Scalar>& carried = device_.states().front();
    for (std::size_t p = 0; p < names.size(); ++p) {
      const bool is_bias = plan_.has_biases() && p % 2 == 1;
      const NetworkLayer<Scalar>& layer = networks_.layer[plan_.has_biases() ? p / 2 : p];
      const auto record = [&](const std::string& name, const Matrix<Scalar>& value) {
        device_.record(name, is_bias ? Matrix<Scalar>(value.transpose()) : value);
      };
      record(names[p] + "_start", carried[p]);
      record("sum_" + names[p] + device_.before(), carried[names.size() + p]);
      record("sum_" + names[p] + device_.after(), carried_[names.size() + p]->matrix());
      record(names[p] + device_.after(), is_bias
                                             ? downloaded(layer.own_bias, 1, layer.outputs)
                                             : downloaded(layer.own_weights, layer.inputs, layer.outputs));
    }
    device_.record_all();
  }

  HeadsOnDevice<NetworkRows, Scalar>& device_;
  NetworkPlan plan_;
  bool dual_;
  Index L_;
  std::vector<DeviceMatrices<Scalar>*> carried_;
  Networks<Scalar> networks_;
};

PALIMPSEST_CUDA_ENGINES(, NetworkRows);

}  // namespace palimpsest::cuda
