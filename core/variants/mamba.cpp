#include "core/engines/mamba.h"
#include "core/inner_problem.h"
#include "core/mamba_steps.h"
#include "core/variants.h"

namespace palimpsest {

namespace {

template <class Scalar>
class MambaEngine : public BlockEngine<Scalar> {
 public:
  explicit MambaEngine(const Sequence& sequence) : sequence_(sequence) {
    A_ = sequence.at("A").template all<Scalar>();
    if (sequence.has("D")) D_ = sequence.at("D").template all<Scalar>().transpose();
  }

  Matrix<Scalar> initial_state() const override {
    if (sequence_.has("initial_state")) return sequence_.at("initial_state").template all<Scalar>();
    return Matrix<Scalar>::Zero(sequence_.dk, sequence_.dv);
  }

  Matrix<Scalar> advance(Form form, Index first, Index count, Matrix<Scalar>& S, Recorder* recorder,
                         const std::stop_token& stop) const override {
    const auto given = [&](const char* name) {
      return sequence_.at(name).template rows<Scalar>(first, count);
    };
    const MambaRows<Scalar> rows{.q = given("q") * static_cast<Scalar>(sequence_.parameter("scale")),
                                 .k = given("k"),
                                 .v = given("v"),
                                 .delta = given("delta"),
                                 .A = A_,
                                 .D = D_};
    if (form == Form::recurrent) return mamba_recurrent(rows, S, recorder);
    return mamba_scan(rows, S, recorder, stop);
  }

  std::vector<std::pair<std::string, Matrix<double>>> named_states(const Matrix<Scalar>& S) const override {
    return {{"S", S.template cast<double>()}};
  }

  MemoryNeed need(Index count, bool recorded) const override {
    const auto numbers =
        static_cast<double>(count) * static_cast<double>(sequence_.dk) * static_cast<double>(sequence_.dv);
    const double bytes = 2 * sizeof(Scalar) + (recorded ? 5 * sizeof(double) : 0);
    return {bytes * numbers, "its n x dk x dv decays and states"};
  }

 private:
  Sequence sequence_;
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
      .words = "Every cell of the memory fades at a rate of its own, and each token sets the pace.",
      .paper = "Gu & Dao, Mamba: Linear-Time Sequence Modeling with Selective State Spaces, 2023",
      .inputs = {demonstrated({"delta", {"n", "dv"}, Range::non_negative, "time step per channel"},
                              {.value = 0.1}),
                 demonstrated({"A",
                               {"dk", "dv"},
                               Range::non_positive,
                               "log decay rate: the transpose of Mamba's A (d_inner, d_state)"},
                              {.value = -1}),
                 {"D", {"dv"}, Range::finite, "skip connection", "0"},
                 initial_state_input()},
      .loss = {.words = "As linear attention with the value times its step, plus a pull towards zero that "
                        "differs from cell to cell.",
               .latex = "-\\langle S^{\\top}k_t, \\Delta_t\\odot v_t\\rangle + "
                        "\\tfrac12\\|\\sqrt{1-E_t}\\odot S\\|_F^2",
               .step = "S_t = S_{t-1} - \\nabla\\mathcal L(S_{t-1})",
               .problems = mamba_problems},
      .memory = {.pairs = stored},
      .rule = block_rule<MambaEngine>(mamba_steps),
  };
}

}  // namespace palimpsest
