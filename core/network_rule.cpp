#include "core/network_rule.h"

#include "core/inner_batches.h"
#include "core/network_steps.h"
#include "core/variant.h"
#include "core/walk.h"

namespace palimpsest {

namespace {

bool is_normalised(const Sequence& sequence) { return sequence.option("layer_norm") == "true"; }

InnerBatches batches_of(const Sequence& sequence, Form form, Index chunk_size) {
  const auto batch = static_cast<Index>(sequence.parameter("batch"));
  return {sequence.tokens, batch, form == Form::recurrent ? 1 : chunk_size};
}

template <class Scalar>
std::optional<LayerNorm<Scalar>> layer_norm_of(const Sequence& sequence) {
  if (!is_normalised(sequence)) return std::nullopt;
  return LayerNorm<Scalar>{sequence.at("ln_weight").all<Scalar>().transpose(),
                           sequence.at("ln_bias").all<Scalar>().transpose(),
                           static_cast<Scalar>(sequence.parameter("ln_eps"))};
}

template <class Scalar>
class NetworkWalk : public Walk<Scalar> {
 public:
  NetworkWalk(const Sequence& sequence, NetworkPlan plan, Form form, Index chunk_size)
      : sequence_(sequence),
        network_(std::move(plan), layer_norm_of<Scalar>(sequence)),
        form_(form),
        batches_(batches_of(sequence, form, chunk_size)) {}

  Index block_count() const override { return batches_.piece_count(); }

  Block block(Index index) const override {
    const Piece piece = batches_.piece(index);
    return {0, piece.first, piece.count};
  }

  Index block_of(Index token, Index) const override { return batches_.piece_of(token); }

  /// The weights that the batch starts from, then the sums of its gradients: 0.
  Carried<Scalar> initial() const override {
    const NetworkPlan& plan = network_.plan();
    Carried<Scalar> carried;
    for (std::size_t layer = 0; layer < plan.layers(); ++layer) {
      carried.push_back(given(plan.weights[layer], sequence_.dk, sequence_.dv));
      if (plan.has_biases()) {
        carried.push_back(given(plan.biases[layer], carried.back().cols(), 1).transpose());
      }
    }
    const std::size_t parameters = carried.size();
    for (std::size_t p = 0; p < parameters; ++p) {
      carried.push_back(Matrix<Scalar>::Zero(carried[p].rows(), carried[p].cols()));
    }
    return carried;
  }

  Matrix<Scalar> advance(Index index, Carried<Scalar>& carried, Recorder* recorder,
                         const std::stop_token&) const override {
    const Piece piece = batches_.piece(index);
    const NetworkRows<Scalar> rows = rows_of(piece);
    if (recorder) record_inputs(piece, rows, *recorder);
    return form_ == Form::recurrent ? network_.primal(rows, carried, recorder)
                                    : network_.dual(rows, carried, recorder);
  }

  /// After the last batch, which may be shorter, the weights are those of its last token.
  NamedStates states(const Carried<Scalar>& carried) const override {
    const NetworkPlan& plan = network_.plan();
    std::vector<std::pair<std::string, Matrix<double>>> named;
    for (const std::string& name : plan.parameters()) {
      const Matrix<double> value = carried[named.size()].template cast<double>();
      const bool is_bias = std::ranges::find(plan.biases, name) != plan.biases.end();
      named.emplace_back(name, is_bias ? Matrix<double>(value.transpose()) : value);
    }
    return named;
  }

  /// The weights of the last token itself: W - sigma A.
  NamedStates states_after(Index tokens, const Carried<Scalar>& carried) const override {
    const Index place = (tokens - 1) % static_cast<Index>(sequence_.parameter("batch"));
    const Scalar sigma = sequence_.has("sigma") ? static_cast<Scalar>(sequence_.at("sigma")(place, 0)) : 1;
    const std::size_t parameters = carried.size() / 2;
    Carried<Scalar> own = carried;
    for (std::size_t p = 0; p < parameters; ++p) own[p] -= sigma * carried[parameters + p];
    return states(own);
  }

 private:
  /// The initial value of a parameter: under its own name where it is required, else initial_NAME or
  /// initial_state, else 0.
  Matrix<Scalar> given(const std::string& parameter, Index rows, Index columns) const {
    for (const std::string& name : {parameter, "initial_" + parameter, std::string("initial_state")}) {
      if (sequence_.has(name)) return sequence_.at(name).template all<Scalar>();
    }
    return Matrix<Scalar>::Zero(rows, columns);
  }

  NetworkRows<Scalar> rows_of(const Piece& piece) const {
    const auto rows = [&](const char* name) -> Matrix<Scalar> {
      return sequence_.at(name).template rows<Scalar>(piece.first, piece.count);
    };
    const bool has_sigma = sequence_.has("sigma");
    return {rows("q") * static_cast<Scalar>(sequence_.parameter("scale")),
            rows("k"),
            rows("v"),
            rows("eta"),
            has_sigma ? Vector<Scalar>(sequence_.at("sigma").template rows<Scalar>(piece.offset, piece.count))
                      : Vector<Scalar>::Ones(piece.count),
            piece.ends_batch};
  }

  void record_inputs(const Piece& piece, const NetworkRows<Scalar>& rows, Recorder& recorder) const {
    const bool token = form_ == Form::recurrent;
    const auto record = [&](const char* column, const char* name, const Matrix<Scalar>& value) {
      if (token) {
        recorder(column, value.transpose());
      } else {
        recorder(name, value);
      }
    };
    record("q", "Q", sequence_.at("q").template rows<Scalar>(piece.first, piece.count));
    record("k", "K", rows.K);
    record("v", "V", rows.V);
    recorder("eta", rows.eta);
    if (sequence_.has("sigma")) recorder("sigma", rows.sigma);
    if (sequence_.has("sigma")) recorder("sigma_last", rows.sigma.tail(1));
    if (sequence_.parameter("scale") != 1) recorder("scale", sequence_.parameter("scale"));
    if (!is_normalised(sequence_)) return;
    recorder("ln_weight", sequence_.at("ln_weight").template all<Scalar>());
    recorder("ln_bias", sequence_.at("ln_bias").template all<Scalar>());
    recorder("ln_eps", sequence_.parameter("ln_eps"));
  }

  Sequence sequence_;
  InnerNetwork<Scalar> network_;
  Form form_;
  InnerBatches batches_;
};

/// The parameters of a network among its states.
Weights<double> weights_of(const NetworkPlan& plan, const NamedStates& states) {
  Weights<double> weights;
  for (const std::string& name : plan.parameters()) weights.push_back(state_of(states, name));
  return weights;
}

struct NetworkDefinition {
  NetworkPlanOf plan;
  std::function<std::optional<std::string>(const Settings&)> missing_parallel;

  std::optional<std::string> missing(Form form, const Settings& settings) const {
    return form == Form::parallel ? missing_parallel(settings) : std::nullopt;
  }

  template <class Scalar>
  std::unique_ptr<const Walk<Scalar>> walk(const Sequence& sequence, Form form, Index chunk_size) const {
    return std::make_unique<NetworkWalk<Scalar>>(sequence, plan(sequence.settings), form, chunk_size);
  }

  NetworkShown shown(const Sequence& sequence, Form form, Index chunk_size) const {
    const auto batch = static_cast<Index>(sequence.parameter("batch"));
    return {.form = form,
            .normalised = is_normalised(sequence),
            .sigma = sequence.has("sigma"),
            .scaled = sequence.parameter("scale") != 1,
            .divided = chunk_size < std::min(batch, sequence.tokens)};
  }

  std::vector<Phase> phases(const Sequence& sequence, Form form, Index chunk_size) const {
    return network_phases(plan(sequence.settings), shown(sequence, form, chunk_size));
  }

  Symbols symbols(const Sequence& sequence, Form form, Index chunk_size) const {
    return network_symbols(plan(sequence.settings), shown(sequence, form, chunk_size));
  }
};

}  // namespace

std::function<std::vector<InnerProblem>(const InnerContext&)> network_problems(NetworkPlanOf plan_of) {
  return [plan_of](const InnerContext& context) -> std::vector<InnerProblem> {
    const Sequence& sequence = context.sequence;
    const NetworkPlan plan = plan_of(sequence.settings);
    const Index place = context.token % inner_batch(sequence.settings);
    const Index first = context.token - place;
    const auto rows = [&](const char* name) { return sequence.at(name).rows<double>(first, place + 1); };
    const Weights<double> W = weights_of(plan, context.batch_start);
    return {{.first_token = first,
             .token_count = place + 1,
             .names = plan.parameters(),
             .terms = {{network_loss({rows("k"), rows("v"), rows("eta")}, plan.has_biases(),
                                     layer_norm_of<double>(sequence))}},
             .at = W,
             .from = W,
             .rate = sequence.has("sigma") ? sequence.at("sigma")(place, 0) : 1}};
  };
}

std::function<Matrix<double>(const Sequence&, const NamedStates&, const Matrix<double>&)> network_memory(
    NetworkPlanOf plan_of) {
  return [plan_of](const Sequence& sequence, const NamedStates& states, const Matrix<double>& keys) {
    const NetworkPlan plan = plan_of(sequence.settings);
    return network_answers(weights_of(plan, states), plan.has_biases(), layer_norm_of<double>(sequence),
                           keys);
  };
}

std::shared_ptr<const Rule> network_rule(NetworkPlanOf plan,
                                         std::function<std::optional<std::string>(const Settings&)> missing) {
  return std::make_shared<WalkRule<NetworkDefinition>>(
      NetworkDefinition{std::move(plan), std::move(missing)});
}

}  // namespace palimpsest
