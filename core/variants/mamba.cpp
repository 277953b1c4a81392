#include "core/engines/mamba.h"
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

  /// A cell fades at a rate of its own, so that a column is a program whose decay is that of its channel.
  std::optional<Channel> channel(Index column) const override {
    require_column(column, sequence_.dv);
    const Sequence& sequence = sequence_;
    return Channel{
        .tokens = sequence.tokens,
        .initial = initial_state().col(column).template cast<double>(),
        .rows =
            [sequence, column](Index first, Index count) {
              const Matrix<double> delta = sequence.at("delta").rows<double>(first, count).col(column);
              return Program<double>{.structure = {.decay = Decay::key, .gates_are_logs = true, .beta = true},
                                     .k = sequence.at("k").rows<double>(first, count),
                                     .v = sequence.at("v").rows<double>(first, count).col(column),
                                     .gate = delta * sequence.at("A").all<double>().col(column).transpose(),
                                     .beta = delta};
            },
        .reads =
            [sequence](Index first, Index count) {
              return ChannelReads{sequence.at("q").rows<double>(first, count) * sequence.parameter("scale"),
                                  rows_up_to_each(first, count)};
            },
        .skip = D_.size() > 0 ? static_cast<double>(D_(0, column)) : 0.0};
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
               .step = "S_t = S_{t-1} - \\nabla\\mathcal L(S_{t-1})"},
      .rule = block_rule<MambaEngine>(mamba_steps),
  };
}

}  // namespace palimpsest
