#include "core/formula/functions.h"
#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

/// delta_t = beta_t / (1 + beta_t |k_t|^2), also where beta_t is 0 or beta_t |k_t|^2 overflows: [L, 1].
template <class Scalar>
Matrix<Scalar> steps(const Matrix<Scalar>& K, const Matrix<Scalar>& beta) {
  const auto lengths = K.array().square().rowwise().sum();
  return (beta.col(0).array().inverse() + lengths).inverse().matrix();
}

/// 1 - delta_t k_t o k_t: [L, K].
template <class Scalar>
Matrix<Scalar> kept(const Matrix<Scalar>& K, const Matrix<Scalar>& delta) {
  return (1 - K.array().square().colwise() * delta.col(0).array()).matrix();
}

/// The step of token `row`, whose key has the channels at(i).
template <class At>
Term explain_step(CallCell& cell, Index channels, Index row, At at) {
  const Term lengths = sum({.count = channels,
                            .value = [&](Index i) { return at(Subscript(i)).value * at(Subscript(i)).value; },
                            .term = [&](const Subscript& i) { return at(i) * at(i); }});
  return number(1) / (number(1) / cell.at(1, row, 0) + lengths);
}

Term explain_token_step(CallCell& cell) {
  const Index channels = cell.shape(0).rows;
  cell.reads(0, 0, 0, channels, 1);
  return explain_step(cell, channels, 0, [&](const Subscript& i) { return cell.at(0, i, 0); });
}

Term explain_row_step(CallCell& cell) {
  const Index row = cell.row();
  const Index channels = cell.shape(0).columns;
  cell.reads(0, row, 0, 1, channels);
  return explain_step(cell, channels, row, [&](const Subscript& i) { return cell.at(0, row, i); });
}

std::vector<Function> functions_of_longhorn() {
  return {function(
              "implicit_step", "[K, 1], [1, 1] -> [1, 1]",
              {R"(\left(#2^{-1} + \|#1\|^2\right)^{-1})", Precedence::product, Precedence::atom},
              [](Arguments a) { return steps<double>(a[0].transpose(), a[1]); }, explain_token_step),
          function(
              "row_implicit_steps", "[L, K], [L, 1] -> [L, 1]",
              {R"(\left[\left(#2_{i}^{-1} + \|#1_{i}\|^2\right)^{-1}\right]_{i})", Precedence::atom,
               Precedence::atom},
              [](Arguments a) { return steps<double>(a[0], a[1]); }, explain_row_step)};
}

Notation longhorn_notation() {
  const auto before = [](const char* k, const char* step, bool of_token) {
    const Expression squares = hadamard(tensor(k), tensor(k));
    const Expression delta = tensor("delta");
    return std::vector<Operation>{
        {"step", Purpose::gates, "Step size",
         "δ = β / (1 + β‖k‖²): the step moves towards v and never overshoots.", "delta",
         call(step, {tensor(k), tensor("beta")})},
        {"gate", Purpose::gates, "Decay from the key",
         "Each key channel decays as much as it is written; no gate is learned.", "alpha",
         call("one_minus", {of_token ? delta * squares : hadamard(delta, squares)})}};
  };
  return {.token = {.q = "q", .k = "k", .v = "v", .o = "o", .beta = "delta"},
          .rows = {.q = "Q", .k = "K", .v = "V", .o = "O", .beta = "delta"},
          .token_before = before("k", "implicit_step", true),
          .rows_before = before("K", "row_implicit_steps", false),
          .symbols = {{"delta", {"\\delta_t", Role::strength, "step size"}}}};
}

/// The loss with every key channel taken by itself, of which the token's step is one of gradient descent.
std::vector<InnerProblem> channel_problems(const InnerContext& context) {
  const Matrix<double> k = row_of(context, "k");
  const Matrix<double>& S = state_of(context.before, "S");
  const Matrix<double> squares = k.cwiseAbs2().transpose().replicate(1, S.cols());
  return step_from(context, S, {{dot_loss(one_pair(k, row_of(context, "v")))}, {shrinking_loss(squares)}},
                   steps<double>(k, row_of(context, "beta"))(0, 0));
}

}  // namespace

Variant longhorn() {
  return {
      .id = "longhorn",
      .label = "Longhorn",
      .words =
          "Each token solves an implicit step: fit the new pair and stay near the old memory. The decay "
          "follows from the key, without a gate.",
      .paper = "Liu et al., Longhorn: State Space Models are Amortized Online Learners, 2024",
      .recurrence = "Diag(1 - delta k o k) S + delta k v', delta = beta / (1 + beta k' k)",
      .text =
          "inputs beta: rate per token\n"
          "delta = beta / (1 + beta |k|^2)\n"
          "S = Diag(1 - delta k * k) S + delta k v^T\n"
          "o = S^T q\n",
      .inputs =
          {demonstrated(
               {"beta", {"n"}, Range::non_negative, "weight of the token against the memory; 0: no update"},
               {.value = 1}),
           initial_state_input()},
      .loss = {.words = "Stay near the previous memory and return v for k. The exact optimum mixes key "
                        "channels; Longhorn keeps its diagonal. The loss in numbers here leaves out products "
                        "of different channels; delta = beta / (1 + beta |k|^2).",
               .latex = "\\tfrac12\\|S - S_{t-1}\\|_F^2 + \\tfrac{\\beta_t}2\\|S^{\\top}k_t - v_t\\|^2",
               .step = "S_t = \\mathrm{Diag}(1 - \\delta_t k_t\\odot k_t)S_{t-1} + \\delta_t k_t v_t^{\\top}",
               .problems = channel_problems},
      .functions = functions_of_longhorn(),
      .rule = row_rule(
          {.decay = Decay::key, .beta = true, .decay_by_key = true},
          []<class Scalar>(const Rows<Scalar>& rows) {
            const Matrix<Scalar> k = rows("k");
            const Matrix<Scalar> delta = steps<Scalar>(k, rows("beta"));
            return Program<Scalar>{
                .q = rows.scaled_q(), .k = k, .v = rows("v"), .gate = kept<Scalar>(k, delta), .beta = delta};
          },
          longhorn_notation()),
  };
}

}  // namespace palimpsest
