#include <Eigen/Cholesky>

#include "core/costs/costs.h"
#include "core/engines/engines.h"
#include "core/rules/inner_problem.h"
#include "core/rules/mesa_system.h"
#include "core/rules/walk_rule.h"
#include "core/steps/mesanet_steps.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

template <class Scalar>
class MesaWalk : public OperatorWalk<MesaRows, Scalar> {
 public:
  MesaWalk(const Sequence& sequence, Form form, Index chunk_size, const Engines<Scalar>& engines)
      : OperatorWalk<MesaRows, Scalar>(sequence, form, chunk_size, engines.mesa) {
    require_state(sequence, sequence.dk, sequence.dk + sequence.dv);
  }

  Carried<Scalar> initial() const override {
    const Index K = sequence_.dk;
    const Index V = sequence_.dv;
    MesaState<Scalar> H = MesaState<Scalar>::Zero(K, K + V);
    if (sequence_.has("initial_Hkk"))
      H.leftCols(K) = symmetric<Scalar>(sequence_.at("initial_Hkk").template all<double>());
    if (sequence_.has("initial_Hkv")) H.rightCols(V) = sequence_.at("initial_Hkv").template all<Scalar>();
    return {H};
  }

  std::vector<std::pair<std::string, Matrix<double>>> states(const Carried<Scalar>& carried) const override {
    const MesaState<Scalar>& H = carried.front();
    return {{"Hkk", H.leftCols(sequence_.dk).template cast<double>()},
            {"Hkv", H.rightCols(sequence_.dv).template cast<double>()}};
  }

  /// Both Gram matrices are programs with the same decay; what reads Hkv is x. After the columns of Hkv come
  /// those of Hkk.
  std::optional<Channel> channel(Index column) const override {
    const Sequence& sequence = sequence_;
    const Index V = sequence.dv;
    require_column(column, V + sequence.dk);
    const Matrix<double> H = initial().front().template cast<double>();
    const Matrix<double> ridge = mesa_ridge<double>(sequence);
    return Channel{.tokens = sequence.tokens,
                   .initial = H.col(column < V ? sequence.dk + column : column - V),
                   .rows =
                       [sequence, column, V](Index first, Index count) {
                         const auto given = [&](const char* name) {
                           return sequence.at(name).rows<double>(first, count);
                         };
                         return Program<double>{
                             .structure = {.decay = Decay::scalar, .beta = true},
                             .k = given("k"),
                             .v = column < V ? given("v").col(column) : given("k").col(column - V),
                             .gate = given("gamma"),
                             .beta = given("beta")};
                       },
                   .reads =
                       [sequence, ridge, H](Index first, Index count) {
                         const auto given = [&](const char* name) {
                           return sequence.at(name).rows<double>(0, first + count);
                         };
                         const MesaRows<double> rows{.q = given("q") * sequence.parameter("scale"),
                                                     .k = given("k"),
                                                     .v = {},
                                                     .beta = given("beta"),
                                                     .gamma = given("gamma"),
                                                     .ridge = ridge};
                         return ChannelReads{mesa_solutions<double>(rows, H.leftCols(sequence.dk), first),
                                             rows_up_to_each(first, count)};
                       },
                   .reads_at_its_time = true};
  }

  std::optional<Cost> cost(Index chunk_size) const override {
    return mesanet_cost(sequence_, form_, chunk_size);
  }

  /// Three n x n matrices, a dozen rows of each token, and systems of K equations.
  BlockNeed need(bool recorded) const override {
    const auto n = static_cast<double>(this->pieces_.largest_piece());
    const auto K = static_cast<double>(sequence_.dk);
    const auto V = static_cast<double>(sequence_.dv);
    const double matrices = form_ == Form::recurrent ? 0 : 3 * n * n;
    const double systems = 4 * K * (K + V);
    return {this->number_size(recorded) * (matrices + n * (8 * K + 4 * V) + systems), "its n x n matrices"};
  }

 private:
  using Walk<Scalar>::sequence_;
  using Walk<Scalar>::form_;

  MesaRows<Scalar> tokens(const Block& block) const override {
    return mesa_rows<Scalar>(sequence_, block.first_token, block.count);
  }
};

/// Hkk + ridge: [K, K].
Matrix<double> curvature(const Sequence& sequence, const Matrix<double>& Hkk) {
  return Hkk + mesa_ridge<double>(sequence);
}

/// The memory that answers: (Hkk + ridge)^{-1} Hkv.
Matrix<double> optimum(const Sequence& sequence, const NamedStates& states) {
  return curvature(sequence, state_of(states, "Hkk")).ldlt().solve(state_of(states, "Hkv"));
}

/// From the minimum before the token to the minimum after it: one Newton step, its preconditioner the inverse
/// of the Hessian. The squares of the values before the token are a constant that is left out.
std::vector<InnerProblem> mesanet_problems(const InnerContext& context) {
  const Index K = context.sequence.dk;
  const Matrix<double> k = row_of(context, "k");
  const Matrix<double> v = row_of(context, "v");
  const double beta = row_of(context, "beta")(0, 0);
  const double gamma = row_of(context, "gamma")(0, 0);
  const Matrix<double> A =
      curvature(context.sequence, gamma * state_of(context.before, "Hkk") + beta * k.transpose() * k);
  const Matrix<double> B = gamma * state_of(context.before, "Hkv") + beta * k.transpose() * v;
  const Matrix<double> before = optimum(context.sequence, context.before);
  return {{.first_token = context.token,
           .names = {"S"},
           .terms = {{quadratic_loss(A, B, beta / 2 * v.squaredNorm()),
                      A.ldlt().solve(Matrix<double>::Identity(K, K))}},
           .at = {before},
           .from = {before}}};
}

Matrix<double> answers(const Sequence& sequence, const NamedStates& states, const Matrix<double>& keys) {
  return keys * optimum(sequence, states);
}

}  // namespace

/// Spec 3.13: o_t = Hkv_t^T (Hkk_t + ridge)^{-1} q_t with Hkk_t = gamma_t Hkk_{t-1} + beta_t k_t k_t^T, and
/// Hkv_t likewise with v_t.
Variant mesanet() {
  return {
      .id = "mesanet",
      .label = "MesaNet",
      .words =
          "Every query is answered by the best linear memory of all that was seen, not by one more step "
          "towards it.",
      .paper = "von Oswald et al., MesaNet: Sequence Modeling by Locally Optimal Test-Time Training, 2025",
      .inputs = {{"beta", {"n"}, Range::non_negative, "weight of the token"},
                 forgetting(demonstrated({"gamma", {"n"}, Range::unit, "decay of both Gram states"},
                                         {.value = 0.98}),
                            1),
                 demonstrated({"ridge", {"dk", "dk"}, Range::positive_definite, "constant ridge"},
                              {.value = 1}),
                 {"initial_Hkk", {"dk", "dk"}, Range::gram, "Gram matrix of keys", "0"},
                 {"initial_Hkv", {"dk", "dv"}, Range::finite, "keys times values", "0"}},
      .states = {{"Hkk"}, {"Hkv"}},
      .loss = {.words = "Not one step: the minimum itself, of the squared error over all earlier tokens, the "
                        "older the less, plus the ridge.",
               .latex = "\\textstyle\\sum_{j\\le t}\\gamma_{j+1:t}\\tfrac{\\beta_j}2\\|S^{\\top}k_j - "
                        "v_j\\|^2 + \\tfrac12\\mathrm{tr}\\,S^{\\top}\\Lambda S",
               .step = "S_t = \\arg\\min_S \\mathcal L_t(S) = (H^{kk}_t + \\Lambda)^{-1} H^{kv}_t",
               .problems = mesanet_problems},
      .memory = {.answers = answers},
      .rule = walk_rule(
          []<class Scalar>(const Sequence& sequence, Form form, Index chunk_size,
                           const Engines<Scalar>& engines) {
            return std::make_unique<MesaWalk<Scalar>>(sequence, form, chunk_size, engines);
          },
          mesanet_steps),
  };
}

}  // namespace palimpsest
