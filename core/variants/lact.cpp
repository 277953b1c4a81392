#include <algorithm>

#include "core/rules/inner_problem.h"
#include "core/rules/lact_rule.h"
#include "core/rules/row_problems.h"
#include "core/rules/walk_rule.h"
#include "core/variants/inner_learning.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

bool is(const Settings& settings, const char* option, const char* value) {
  return settings.options.find(option)->second == value;
}

/// SGD without weight norm is a row program in two parts: the weights S that the batch began with, and the
/// momentum M that its tokens add to. At the next batch S takes M over and M fades.
bool is_row_program(const Settings& settings) {
  return is(settings, "optimizer", "sgd") && is(settings, "weight_norm", "false");
}

/// With the dot loss no gradient needs the weights, and the scan over all batches is quicker.
bool runs_as_row_program(const Settings& settings) {
  return is_row_program(settings) && is(settings, "loss", "l2");
}

template <class Scalar>
Program<Scalar> lact_rows(const Rows<Scalar>& rows) {
  const Sequence& sequence = rows.sequence;
  const auto batch = inner_batch(sequence.settings);
  const bool updates_first = sequence.option("order") == "update_first";
  Matrix<Scalar> transition = Matrix<Scalar>::Zero(rows.count, 4);
  std::vector<Index> read_after;
  for (Index t = 0; t < rows.count; ++t) {
    const Index token = rows.first + t;
    Eigen::Map<Matrix<Scalar>> T(transition.row(t).data(), 2, 2);
    T(0, 0) = 1;
    T(0, 1) = token % batch == 0 && token > 0 ? 1 : 0;
    T(1, 1) = 1;
    if (token % batch == 0)
      T(1, 1) = sequence.has("momentum") ? static_cast<Scalar>(sequence.at("momentum")(token / batch, 0))
                                         : Scalar(0);
    const Index batch_end = std::min((token / batch + 1) * batch - rows.first, rows.count);
    read_after.push_back(updates_first ? batch_end : t + 1);
  }
  return {.q = rows.scaled_q(),
          .k = rows("k"),
          .v = rows("v"),
          .beta = rows("eta"),
          .transition = transition,
          .inject = rows.every_row({0, 1}),
          .erase_sight = rows.every_row({1, 0}),
          .read_sight = rows.every_row({1, updates_first ? Scalar(1) : Scalar(0)}),
          .read_after = read_after};
}

std::shared_ptr<const Rule> lact_row_program() {
  const auto structure = [](const Settings& settings) {
    const Erase erase = is(settings, "loss", "l2") ? Erase::decayed : Erase::none;
    return Structure{.erase = erase, .beta = true, .parts = "SM"};
  };
  const auto encoder = make_encoder([]<class Scalar>(const Rows<Scalar>& rows) { return lact_rows(rows); });
  const auto initial = [](const Sequence& sequence) {
    const Index K = sequence.dk;
    Matrix<double> state(2 * K, sequence.dv);
    state.topRows(K) = sequence.at("initial_S").all<double>();
    state.bottomRows(K) = given_or_zero(sequence, "initial_M", K, sequence.dv);
    return state;
  };
  const auto named = [](const Matrix<double>& state, const Sequence& sequence) {
    const Index K = sequence.dk;
    Matrix<double> S = state.topRows(K);
    if (sequence.tokens > 0) S += state.bottomRows(K);
    return std::vector<std::pair<std::string, Matrix<double>>>{{"S", S}, {"M", state.bottomRows(K)}};
  };
  return std::make_shared<RowRule>(RowDeclaration{
      .structure = structure, .encoder = encoder, .notation = learning_notation, .states = {initial, named}});
}

/// One step for all tokens of the batch; eta weighs them in the loss.
std::vector<InnerProblem> lact_problems(const InnerContext& context) {
  const Sequence& sequence = context.sequence;
  const Index size = inner_batch(sequence.settings);
  const Index batch = context.token / size;
  const Index first = batch * size;
  const Index count = std::min(size, sequence.tokens - first);
  const WeighedPairs pairs = {sequence.at("k").rows<double>(first, count),
                              sequence.at("v").rows<double>(first, count),
                              sequence.at("eta").rows<double>(first, count)};
  const Matrix<double>& S = state_of(context.batch_start, "S");
  InnerProblem problem{.first_token = first,
                       .token_count = count,
                       .names = {"S"},
                       .terms = {{sequence.option("loss") == "l2" ? squared_loss(pairs) : dot_loss(pairs)}},
                       .at = {S},
                       .from = {S},
                       .momentum = sequence.has("momentum") ? sequence.at("momentum")(batch, 0) : 0,
                       .moving = {state_of(context.batch_start, "M")}};
  if (sequence.option("optimizer") == "muon")
    problem.muon = newton_schulz_steps(sequence.option("newton_schulz"));
  if (sequence.option("weight_norm") == "true") problem.column_norm = lact_column_norm<double>(sequence);
  return {problem};
}

/// The columns of all weights keep the norms of the first ones.
void hand_over_column_norm(const Sequence& finished, Arrays& more) {
  if (finished.has("column_norm") || finished.option("weight_norm") != "true") return;
  const RowVector<double> norms = finished.at("initial_S").all<double>().colwise().stableNorm();
  more["column_norm"] = Array({norms.size()}, std::vector<double>(norms.data(), norms.data() + norms.size()));
}

}  // namespace

/// Spec 3.11: per inner batch G = K^T Diag(eta) R, M = m M + G, S = normalise(S + NS5(M)).
Variant lact() {
  return {
      .id = "lact",
      .label = "LaCT",
      .words =
          "Large batches of tokens change the memory in one big step, in which every direction counts alike.",
      .paper = "Zhang et al., Test-Time Training Done Right, 2025; Jordan et al., Muon, 2024",
      .options =
          {{"optimizer",
            {"muon", "sgd"},
            "muon: the step is the gradient with its singular values brought near 1; sgd: the gradient"},
           {"loss",
            {"dot", "l2"},
            "dot: minus the inner product of answer and value; l2: half the square of what is missing"},
           {"order", {"apply_first", "update_first"}, "read before or after the own update"},
           {"weight_norm", {"true", "false"}, "columns keep their norm"},
           {"newton_schulz", {"muon", "tuned"}, "coefficients; tuned: LaCT's language-model code"}},
      .inputs = {demonstrated({"eta", {"n"}, Range::non_negative, "learning rate"},
                              {.value = 0.5, .learning_rate = true}),
                 {"momentum", {"n_batches"}, Range::unit, "momentum factor of each batch", "0"},
                 demonstrated({"initial_S", {"dk", "dv"}, Range::finite, "weights"},
                              {.value = 0.2, .random = true}),
                 {"initial_M", {"dk", "dv"}, Range::finite, "momentum", "0"},
                 {"column_norm",
                  {"dv"},
                  Range::non_negative,
                  "norms that weight_norm restores",
                  "column norms of initial_S"}},
      .parameters = {{.name = "batch",
                      .minimum = 1,
                      .maximum = 1e15,
                      .meaning = "tokens per update: the rule's own chunk",
                      .whole = true,
                      .stand_in = 16}},
      .states = {{"S"}, {"M"}},
      .loss = {.words = "Answer v when asked with k, for a whole batch at once, all gradients at the weights "
                        "before it. Muon makes the step as long in every direction.",
               .latex = "-\\sum_j \\eta_j\\langle S^{\\top}k_j, v_j\\rangle",
               .step = "S' = \\mathrm{normalise}\\left(S + "
                       "\\mathrm{NS}_5\\left(\\mu M - \\nabla\\mathcal L(S)\\right)\\right)",
               .problems = lact_problems},
      .rule = with_parallel(lact_rule(), lact_row_program(), runs_as_row_program, is_row_program),
      .hand_over = hand_over_column_norm,
  };
}

}  // namespace palimpsest
