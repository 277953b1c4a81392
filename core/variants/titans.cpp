#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

/// With batches of several tokens gradients are taken at F, a separate part, not at S.
Structure titans_structure(const Settings& settings) {
  const bool exact = inner_batch(settings) == 1;
  return {.erase = exact ? Erase::undecayed : Erase::decayed, .beta = true, .parts = exact ? "SM" : "SMF"};
}

/// Momentum (S, M); with batches of several tokens also F, the memory that their gradients are taken at.
///   S <- (1 - f) S + eta M + theta k u^T,  M <- eta M + theta k u^T,  F <- S at the start of a batch
constexpr auto titans_rows = []<class Scalar>(const Rows<Scalar>& rows) -> Program<Scalar> {
  const Index batch = inner_batch(rows.sequence.settings);
  const bool exact = batch == 1;
  const Index p = exact ? 2 : 3;
  const Matrix<Scalar> forget = rows("forget");
  const Matrix<Scalar> eta = rows("eta");
  Matrix<Scalar> transition = Matrix<Scalar>::Zero(rows.count, p * p);
  for (Index t = 0; t < rows.count; ++t) {
    Eigen::Map<Matrix<Scalar>> T(transition.row(t).data(), p, p);
    T(0, 0) = 1 - forget(t, 0);
    T(0, 1) = T(1, 1) = eta(t, 0);
    const bool starts_batch = (rows.first + t) % batch == 0;
    if (!exact) T(2, starts_batch ? 0 : 2) = 1;
  }
  return {.q = rows.scaled_q(),
          .k = rows("k"),
          .v = rows("v"),
          .beta = rows("theta"),
          .transition = transition,
          .inject = exact ? rows.every_row({1, 1}) : rows.every_row({1, 1, 0}),
          .erase_sight = exact ? rows.every_row({1, 0}) : rows.every_row({0, 0, 1}),
          .read_sight = exact ? rows.every_row({1, 0}) : rows.every_row({1, 0, 0})};
};

/// Within a batch the gradients are taken at the state at its start.
std::vector<Carry> token_carries(bool exact) {
  std::vector<Carry> carries = {{"S_after", "S_before"}, {"M_after", "M_before"}};
  if (exact) return carries;
  carries.push_back({"S_after", "F_moved", Carry::When::starting_anew});
  carries.push_back({"F_moved", "F_moved", Carry::When::going_on});
  return carries;
}

Notation titans_notation(const Settings& settings) {
  const bool exact = inner_batch(settings) == 1;
  return {.token = {.q = "q", .k = "k", .v = "v", .o = "o", .beta = "theta"},
          .rows = {.q = "Q", .k = "K", .v = "V", .o = "O", .beta = "theta"},
          .token_write = {{"read", Purpose::read, "Prediction v̂",
                           exact ? "What does the memory already return for the key of “{token}”?"
                                 : "What did the memory before the batch return for the key of “{token}”?",
                           "old", transpose(tensor(exact ? "S_before" : "F_moved")) * tensor("k")},
                          {"error", Purpose::error, "Error e = v − v̂",
                           "How large is the error of the prediction, given the target v?", "error",
                           tensor("v") - tensor("old")},
                          {"update", Purpose::update, "Gradient step",
                           "The outer product of key and error, times the learning rate.", "update",
                           tensor("theta") * tensor("k") * transpose(tensor("error"))},
                          {"momentum", Purpose::momentum, "Momentum",
                           "The earlier momentum times η, plus this gradient step.", "M_after",
                           tensor("eta") * tensor("M_before") + tensor("update")},
                          {"write", Purpose::write, "Memory after the write",
                           "The memory times 1 − f, plus the momentum.", "S_after",
                           call("one_minus", {tensor("forget")}) * tensor("S_before") + tensor("M_after")}},
          .token_carries = token_carries(exact),
          .symbols = {{"forget", {"f_t", Role::gate, "forget gate"}},
                      {"eta", {"\\eta_t", Role::gate, "momentum"}},
                      {"theta", {"\\theta_t", Role::strength, "learning rate"}},
                      {"M_before", {"M_{t-1}", Role::state, "momentum before"}},
                      {"M_after", {"M_t", Role::state, "momentum"}},
                      {"F_moved", {"S_{\\tau}", Role::state, "memory before the batch"}}}};
}

Matrix<double> titans_initial(const Sequence& sequence) {
  const Index K = sequence.dk;
  const bool exact = inner_batch(sequence.settings) == 1;
  Matrix<double> state(exact ? 2 * K : 3 * K, sequence.dv);
  state.topRows(K) = given_or_zero(sequence, "initial_S", K, sequence.dv);
  state.middleRows(K, K) = given_or_zero(sequence, "initial_M", K, sequence.dv);
  if (!exact) state.bottomRows(K) = state.topRows(K);
  return state;
}

/// The gradient of 1/2 |S^T k - v|^2 is taken at the memory that the batch began with.
std::vector<InnerProblem> titans_problems(const InnerContext& context) {
  return {{.first_token = context.token,
           .terms = {{squared_loss(one_pair(row_of(context, "k"), row_of(context, "v")))}},
           .at = {state_of(context.batch_start, "S")},
           .from = {state_of(context.before, "S")},
           .kept = 1 - row_of(context, "forget")(0, 0),
           .rate = row_of(context, "theta")(0, 0),
           .momentum = row_of(context, "eta")(0, 0),
           .moving = {state_of(context.before, "M")}}};
}

}  // namespace

/// Spec 3.9: M_t = eta_t M_{t-1} + theta_t k_t (v_t - S_tau^T k_t)^T, S_t = (1 - f_t) S_{t-1} + M_t.
Variant titans() {
  const auto named = [](const Matrix<double>& state, const Sequence& sequence) {
    const Index K = sequence.dk;
    return NamedStates{{"S", state.topRows(K)}, {"M", state.middleRows(K, K)}};
  };
  return {
      .id = "titans",
      .label = "Titans (linear memory)",
      .words =
          "The delta rule with momentum: an error also changes the memory at later tokens. In the paper, "
          "forget is called alpha.",
      .paper = "Behrouz et al., Titans: Learning to Memorize at Test Time, 2024",
      .text =
          "inputs forget: gate per token; eta: gate per token; theta: rate per token\n"
          "memory M: key x value\n"
          "M = eta * M + theta * k (v - S^T k)^T\n"
          "S = (1 - forget) * S + M\n"
          "o = S^T q\n",
      .inputs = {forgetting(demonstrated({"forget", {"n"}, Range::unit, "share of S that is forgotten"},
                                         {.value = 0.02}),
                            0),
                 demonstrated({"eta", {"n"}, Range::unit, "momentum"}, {.value = 0.5}),
                 demonstrated({"theta", {"n"}, Range::non_negative, "learning rate for 1/2 |S^T k - v|^2"},
                              {.value = 0.5, .learning_rate = true}),
                 {"initial_S", {"dk", "dv"}, Range::finite, "memory", "0"},
                 {"initial_M", {"dk", "dv"}, Range::finite, "momentum", "0"}},
      .parameters = {{.name = "batch",
                      .minimum = 1,
                      .maximum = 1e15,
                      .meaning = "tokens per gradient batch; 1 = exact",
                      .standard = 1,
                      .whole = true}},
      .states = {{"S"}, {"M"}},
      .loss = {.words = "Make the memory return v for k: a gradient step with momentum and weight decay.",
               .latex = "\\tfrac12\\|S^{\\top}k_t - v_t\\|^2",
               .step = "M_t = \\eta_t M_{t-1} - \\theta_t\\nabla\\mathcal L(S_{\\tau}),\\quad "
                       "S_t = (1-f_t)S_{t-1} + M_t",
               .problems = titans_problems},
      .rule = std::make_shared<RowRule>(RowDeclaration{.structure = titans_structure,
                                                       .encoder = titans_rows,
                                                       .notation = titans_notation,
                                                       .states = {titans_initial, named}}),
  };
}

}  // namespace palimpsest
