#include "core/rules/inner_problem.h"
#include "core/rules/row_rule.h"
#include "core/variants/variants.h"

namespace palimpsest {

namespace {

/// One decay per token: it belongs to the first of the token's steps, the others keep everything.
template <class Scalar>
Matrix<Scalar> decay_of_first_step(const Rows<Scalar>& rows, Index steps) {
  const bool logs = rows.sequence.gates_are_logs;
  Matrix<Scalar> gate = Matrix<Scalar>::Constant(rows.count * steps, 1, logs ? Scalar(0) : Scalar(1));
  if (!rows.sequence.has("alpha")) return gate;
  const Matrix<Scalar> alpha = rows("alpha");
  for (Index t = 0; t < rows.count; ++t) gate(t * steps, 0) = alpha(t, 0);
  return gate;
}

}  // namespace

/// Spec 3.13: several delta steps per token, one after the other, on alpha_t S_{t-1}.
Variant deltaproduct() {
  return {
      .id = "deltaproduct",
      .label = "(Gated) DeltaProduct",
      .words = "Several delta steps per token, each with its own key and value.",
      .paper =
          "Siems et al., DeltaProduct: Improving State-Tracking in Linear RNNs via Householder Products, "
          "2025",
      .inputs = {{"k", {"n", "h", "dk"}, Range::finite, "keys, h steps per token"},
                 {"v", {"n", "h", "dv"}, Range::finite, "values, one per step"},
                 optional(decay_input({"n"}), "1"),
                 {"beta", {"n", "h"}, Range::strength, "write strength of each step"},
                 initial_state_input()},
      .loss = {.words = "Make the memory answer v when asked with k: h gradient steps, one after the other.",
               .latex = "\\tfrac12\\|S^{\\top}k_{t,j} - v_{t,j}\\|^2",
               .step = "S \\leftarrow S - \\beta_{t,j}\\nabla\\mathcal L_j(S),\\quad j = 1 \\dots h",
               .problems = squared_problems},
      .rule = row_rule({.decay = Decay::scalar, .erase = Erase::decayed, .beta = true},
                       []<class Scalar>(const Rows<Scalar>& rows) {
                         const Index steps = rows.sequence.at("beta").columns();
                         return Program<Scalar>{.q = rows.scaled_q(),
                                                .k = rows.unfolded("k", rows.sequence.dk),
                                                .v = rows.unfolded("v", rows.sequence.dv),
                                                .gate = decay_of_first_step(rows, steps),
                                                .beta = rows.unfolded("beta", 1)};
                       },
                       {}, {.rows_per_read = "beta"}),
  };
}

}  // namespace palimpsest
