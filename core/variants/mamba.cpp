#include "core/costs/costs.h"
#include "core/engines/engines.h"
#include "core/rules/inner_problem.h"
#include "core/rules/walk_rule.h"
#include "core/steps/mamba_steps.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

template <class Scalar>
class MambaWalk : public OperatorWalk<MambaRows, Scalar> {
 public:
  MambaWalk(const Sequence& sequence, Form form, Index chunk_size, const Engines<Scalar>& engines)
      : OperatorWalk<MambaRows, Scalar>(sequence, form, chunk_size, engines.mamba),
        A_(sequence.at("A").template all<Scalar>()) {
    if (sequence.has("D")) D_ = sequence.at("D").template all<Scalar>().transpose();
  }

  Carried<Scalar> initial() const override {
    if (sequence_.has("initial_state")) return {sequence_.at("initial_state").template all<Scalar>()};
    return {Matrix<Scalar>::Zero(sequence_.dk, sequence_.dv)};
  }

  std::vector<std::pair<std::string, Matrix<double>>> states(const Carried<Scalar>& carried) const override {
    return {{"S", carried.front().template cast<double>()}};
  }

  /// A cell fades at a rate of its own, so that a column is a program whose decay is that of its channel.
  std::optional<Channel> channel(Index column) const override {
    require_column(column, sequence_.dv);
    const Sequence& sequence = sequence_;
    return Channel{
        .tokens = sequence.tokens,
        .initial = this->initial().front().col(column).template cast<double>(),
        .rows =
            [sequence, column](Index first, Index count) {
              const Matrix<double> delta = sequence.at("delta").rows<double>(first, count).col(column);
              return Program<double>{.structure = {.decay = Decay::key, .gates_are_logs = true, .beta = true},
                                     .k = sequence.at("k").rows<double>(first, count),
                                     .v = sequence.at("v").rows<double>(first, count).col(column),
                                     .gate = delta * sequence.at("A").all<double>().col(column).transpose(),
                                     .beta = delta};
            },
        .reads = [sequence](Index first, Index count) { return scaled_reads(sequence, first, count); },
        .skip = D_.size() > 0 ? static_cast<double>(D_(0, column)) : 0.0};
  }

  std::optional<Cost> cost(Index chunk_size) const override {
    return mamba_cost(sequence_, form_, chunk_size);
  }

  BlockNeed need(bool recorded) const override {
    const auto n = static_cast<double>(this->pieces_.largest_piece());
    const auto K = static_cast<double>(sequence_.dk);
    const auto V = static_cast<double>(sequence_.dv);
    const double tables = sizeof(Scalar) * 2 + (recorded ? sizeof(double) * 5 : 0);
    return {n * K * V * tables + this->number_size(recorded) * (n * (2 * K + 4 * V) + 4 * K * V),
            "its n x dk x dv decays and states"};
  }

 private:
  using Walk<Scalar>::sequence_;
  using Walk<Scalar>::form_;

  MambaRows<Scalar> tokens(const Block& block) const override {
    const Rows<Scalar> given = this->rows(block);
    return {
        .q = given.scaled_q(), .k = given("k"), .v = given("v"), .delta = given("delta"), .A = A_, .D = D_};
  }

  Matrix<Scalar> A_;  // [K, V]
  Matrix<Scalar> D_;  // [1, V], or empty
};

/// The value times its step: what is written, [L, V].
StoredPairs stored(const Sequence& sequence, Index first, Index count) {
  const auto rows = [&](const char* name) { return sequence.at(name).rows<double>(first, count); };
  return {rows("k"), rows("delta").cwiseProduct(rows("v"))};
}

std::vector<InnerProblem> mamba_problems(const InnerContext& context) {
  const auto [key, value] = stored(context.sequence, context.token, 1);
  const Matrix<double> A = context.sequence.at("A").all<double>();
  const Matrix<double> forgotten = -(A * row_of(context, "delta").asDiagonal()).array().expm1();
  return {{.first_token = context.token,
           .names = {"S"},
           .terms = {{dot_loss(one_pair(key, value))}, {shrinking_loss(forgotten)}},
           .at = {state_of(context.before, "S")},
           .from = {state_of(context.before, "S")}}};
}

}  // namespace

/// Spec 3.14: S_t = exp(A o 1 delta_t^T) o S_{t-1} + k_t (delta_t o v_t)^T, o_t = S_t^T q_t + D o v_t.
Variant mamba() {
  return {
      .id = "mamba",
      .label = "Mamba (S6)",
      .words =
          "Every cell of the memory fades at a rate of its own, and each token sets the pace. "
          "In the paper's names q is C, k is B and v is x; A is -exp(A_log), transposed.",
      .paper = "Gu & Dao, Mamba: Linear-Time Sequence Modeling with Selective State Spaces, 2023",
      .inputs = {demonstrated({"delta", {"n", "dv"}, Range::non_negative, "time step per channel"},
                              {.value = 0.1}),
                 forgetting(demonstrated({"A",
                                          {"dk", "dv"},
                                          Range::non_positive,
                                          "log decay rate: the transpose of Mamba's A (d_inner, d_state)"},
                                         {.value = -1}),
                            0),
                 {"D", {"dv"}, Range::finite, "skip connection", "0"},
                 initial_state_input()},
      .loss = {.words = "As linear attention with the value times its step, plus a pull towards zero that "
                        "differs from cell to cell.",
               .latex = "-\\langle S^{\\top}k_t, \\Delta_t\\odot v_t\\rangle + "
                        "\\tfrac12\\|\\sqrt{1-E_t}\\odot S\\|_F^2",
               .step = "S_t = S_{t-1} - \\nabla\\mathcal L(S_{t-1})",
               .problems = mamba_problems},
      .memory = {.pairs = stored},
      .rule = walk_rule(
          []<class Scalar>(const Sequence& sequence, Form form, Index chunk_size,
                           const Engines<Scalar>& engines) {
            return std::make_unique<MambaWalk<Scalar>>(sequence, form, chunk_size, engines);
          },
          mamba_steps),
  };
}

}  // namespace palimpsest
