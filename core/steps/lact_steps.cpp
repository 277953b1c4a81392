#include "core/steps/phase.h"

#include <fmt/format.h>

namespace palimpsest {

namespace {

constexpr int step_count = 5;  // of Newton and Schulz

struct LactSteps {
  const LactShown& shown;
  bool token = shown.form == Form::recurrent;

  std::string before(const std::string& name) const { return name + (token ? "_before" : "_in"); }
  std::string after(const std::string& name) const { return name + (token ? "_after" : "_out"); }

  Expression query() const { return palimpsest::query(shown.scaled, token ? "q" : "Q"); }

  void output(PhaseBuilder& steps, const std::string& weights, const char* sentence) const {
    const Expression S = tensor(weights);
    steps.add_line({"output", Purpose::output, "Output", sentence, token ? "o" : "O",
                    token ? transpose(S) * query() : query() * S});
  }

  /// The desired change of the prediction: the error r, or v for the dot loss.
  Expression wanted() const { return tensor(shown.l2 ? (token ? "r" : "R") : (token ? "v" : "V")); }

  Phase gather() const {
    PhaseBuilder steps(token ? "token by token" : "piece by piece of an inner batch");
    if (!shown.update_first) {
      output(steps, "S_start",
             "The memory before the batch returns the output: no token reads its own batch.");
    }
    if (shown.l2) {
      const Expression S = tensor("S_start");
      steps.add("read", Purpose::read, "Prediction v̂",
                token ? "What does the memory already return for the key of “{token}”?"
                      : "What does the memory already return for every key?",
                token ? "old" : "OLD", token ? transpose(S) * tensor("k") : tensor("K") * S);
      steps.add("missing", Purpose::error, "Error v − v̂",
                "How large is the error of the prediction, given the target v?", token ? "r" : "R",
                token ? tensor("v") - tensor("old") : tensor("V") - tensor("OLD"));
      steps.line("Error v − v̂", "The target minus the prediction.", {token ? "old" : "OLD"});
    }
    steps.add("write", Purpose::gathered, "−η times the gradient",
              token ? "The gradient of the loss at “{token}”, times −η; the memory is unchanged."
                    : "The gradient of the loss at these tokens, times −η; the memory is unchanged.",
              "update",
              token ? tensor("eta") * tensor("k") * transpose(wanted())
                    : transpose(hadamard(tensor("eta"), tensor("K"))) * wanted());
    const bool goes_on = token || shown.divided;
    steps.add("gather", Purpose::gathered, "Sum of −η times the gradient so far",
              token ? "−η times the gradient, summed over the tokens of the batch up to “{token}”."
                    : "−η times the gradient, summed over the tokens of the batch up to here.",
              after("G"), goes_on ? tensor(before("G")) + tensor("update") : tensor("update"));
    steps.line("Gradients are summed", "−η times each gradient is summed; the memory is unchanged.",
               {"update"}, 2);
    steps.carry({{after("S"), "S_start", Carry::When::starting_anew},
                 {"S_start", "S_start", Carry::When::going_on},
                 {after("G"), before("G"), Carry::When::going_on}});
    return steps.take();
  }

  Expression coefficient(const char* name, int i) const {
    return tensor(shown.tuned ? fmt::format("{}_{}", name, i) : name);
  }

  void newton_schulz(PhaseBuilder& steps) const {
    const Expression M = tensor(after("M"));
    steps.add("norm", Purpose::orthogonalise, "Norm",
              "The Frobenius norm: the root of the sum of all squares.", "norm", call("frobenius_norm", {M}));
    steps.add_line(
        {"normalise", Purpose::orthogonalise, "Divided by its norm",
         "Newton–Schulz needs singular values of at most 1.", "X_0",
         call("reciprocal", {tensor("norm") + tensor("norm_eps")}) * (shown.tall ? transpose(M) : M)},
        {"norm"});
    for (int i = 1; i <= step_count; ++i) {
      const Expression X = tensor(fmt::format("X_{}", i - 1));
      const std::string gram = fmt::format("B_{}", i);
      const std::string next = fmt::format("X_{}", i);
      const Expression B = tensor(gram);
      steps.add(fmt::format("gram_{}", i), Purpose::orthogonalise, "Inner products of the rows",
                "The Gram matrix; its polynomials scale singular directions without rotating them.", gram,
                X * transpose(X));
      steps.add(fmt::format("step_{}", i), Purpose::orthogonalise,
                fmt::format("Newton–Schulz step {} of {}", i, step_count),
                "One Newton–Schulz step: it moves all singular values towards 1.", next,
                coefficient("a", i) * X + (coefficient("b", i) * B + coefficient("c", i) * (B * B)) * X);
      steps.line(fmt::format("Newton–Schulz step {}", i), "One step: it moves all singular values towards 1.",
                 {gram});
    }
    std::vector<Expression> iterates;
    for (int i = 0; i <= step_count; ++i) iterates.push_back(tensor(fmt::format("X_{}", i)));
    steps.add("spectra", Purpose::orthogonalise, "Singular values",
              "The singular values after each step, one column per step.", "spectra",
              call("spectra", iterates));
    steps.line("Singular values", "They become nearly equal: every singular direction gets a similar step.");
  }

  Phase update() const {
    PhaseBuilder steps("the batch is done");
    const Expression G = tensor("G");
    steps.add("momentum", Purpose::momentum, shown.momentum ? "Momentum" : "Sum over the batch",
              shown.momentum ? "The sum over the batch plus a share of the last step's direction."
                             : "The sum over the batch; this setting has no momentum.",
              after("M"), shown.momentum ? tensor("momentum") * tensor(before("M")) + G : G);
    steps.line("The direction of the step", "−η times the gradient of the whole batch.");
    if (shown.muon) newton_schulz(steps);
    const std::string last = fmt::format("X_{}", step_count);
    const Expression step = !shown.muon  ? tensor(after("M"))
                            : shown.tall ? transpose(tensor(last))
                                         : tensor(last);
    const std::string free = shown.weight_norm ? "S_free" : after("S");
    steps.add("write", Purpose::write, "One step", "The memory takes one step for the whole batch.", free,
              tensor("S_start") + step);
    if (shown.weight_norm) {
      steps.line("One step", "One step for the whole batch.");
      steps.add("column_norms", Purpose::restore_lengths, "Norm of each column",
                "The step has changed the norms of the columns.", "column_norms",
                call("column_norms", {tensor("S_free")}));
      steps.add(
          "column_factors", Purpose::restore_lengths, "Factors that restore the norms",
          "The factor that gives each column its initial norm.", "column_factors",
          call("restoring_factors", {tensor("column_norms"), tensor("column_norm"), tensor("column_eps")}));
      steps.add("normalise_columns", Purpose::restore_lengths, "Memory after the write",
                "Every column has its initial norm: the step only rotates it.", after("S"),
                tensor("S_free") * diagonal(tensor("column_factors")));
    }
    steps.line("The memory is updated", "Once for the whole batch.", {"column_norms", "column_factors"}, 2);
    steps.carry({{"S_start", "S_start"}, {after("G"), "G"}, {after("M"), before("M")}});
    return steps.take();
  }

  Phase read() const {
    PhaseBuilder steps("every token queries its batch");
    output(steps, after("S"), "The memory contains the whole batch, later tokens included.");
    steps.carry({{after("S"), after("S")}});
    return steps.take();
  }

  Phase scan() const {
    PhaseBuilder steps("all batches at once");
    steps.add("gradients", Purpose::gathered, "Gradient of each batch",
              "The gradients do not depend on the weights, so all are computed at once.", "G_all",
              call("batch_products", {hadamard(tensor("eta"), tensor("K")), tensor("V"), tensor("first")}));
    steps.line("Gradient of each batch", "All gradients at once, one batch below the other.");
    std::string direction = "G_all";
    if (shown.momentum) {
      steps.add("momentum", Purpose::momentum, "Momentum",
                "A linear scan: each batch keeps a share of the direction before.", "M_all",
                call("batch_momentum", {tensor(direction), tensor("momentum"), tensor("M_start")}));
      steps.line("Momentum", "A linear scan over the batches.");
      direction = "M_all";
    }
    steps.add_line({"last_momentum", Purpose::carry, "Memory carried on", "The direction of the last batch.",
                    "M_out", call("last_rows", {tensor(direction), tensor("M_start")})});
    if (shown.muon) {
      steps.add("orthogonalise", Purpose::orthogonalise, "Newton–Schulz",
                "Newton–Schulz for each batch: all singular values move near 1.", "X_all",
                call("batch_newton_schulz", {tensor(direction), tensor("coefficients"), tensor("first")}));
      steps.line("Newton–Schulz", "Newton–Schulz for each batch: all singular values near 1.");
      direction = "X_all";
    }
    steps.add("weights", Purpose::write, "Memory after each batch",
              "Cumulative sums of the steps of all batches.", "S_all",
              call("batch_weights", {tensor("S_start"), tensor(direction)}));
    steps.line("Memory after each batch", "Cumulative sums of the steps.", {}, 2);
    steps.add("output", Purpose::output, "Output",
              shown.update_first ? "Every query reads the memory after its own batch."
                                 : "Every query reads the memory before its batch.",
              "O", call("batch_reads", {query(), tensor("S_all"), tensor("first"), tensor("later")}));
    steps.line("Output", "Every query reads the memory of its batch.");
    steps.add_line({"carry", Purpose::carry, "Memory carried on", "The memory after the last batch.", "S_out",
                    call("last_rows", {tensor("S_all"), tensor("S_start")})});
    steps.carry({{"S_out", "S_start"}, {"M_out", "M_start"}});
    return steps.take();
  }
};

std::vector<Phase> lact_phases(const LactShown& shown) {
  const LactSteps steps{shown};
  if (shown.form == Form::parallel) return {steps.scan()};
  if (shown.update_first) return {steps.gather(), steps.update(), steps.read()};
  return {steps.gather(), steps.update()};
}

Symbols lact_symbols(const LactShown& shown) {
  const bool token = shown.form == Form::recurrent;
  const std::string t = token ? "_t" : "";
  Symbols symbols = usual_symbols(shown.form, "\\kappa");
  symbols.insert(
      {{"eta", {"\\eta" + t, Role::strength, "learning rate"}},
       {"momentum", {"\\mu", Role::gate, "momentum"}},
       {"norm_eps", {"\\epsilon", Role::plain, "added to the norm"}},
       {"column_eps", {"\\epsilon_c", Role::plain, "added to the norm of a column"}},
       {"column_norm", {"\\ell_0", Role::plain, "norms that the columns keep"}},
       {"column_norms", {"\\ell", Role::plain, "norms of the columns"}},
       {"column_factors", {"f", Role::plain, "factor of each column"}},
       {"norm", {"\\nu", Role::plain, "norm"}},
       {"spectra", {"\\Sigma", Role::plain, "singular values after each step"}},
       {"S_start", {shown.form == Form::parallel ? "S_0" : "S", Role::state, "memory before the batch"}},
       {"S_free", {"\\tilde S", Role::state, "memory after the step"}},
       {token ? "S_after" : "S_out",
        {shown.form == Form::parallel ? "S_N" : "S'", Role::state, "memory after"}},
       {token ? "M_before" : "M_in", {"M", Role::state, "direction of the last step"}},
       {token ? "M_after" : "M_out",
        {shown.form == Form::parallel ? "M_N" : "M'", Role::state, "direction of the step"}},
       {"M_start", {"M_0", Role::state, "direction of the last step"}},
       {"G", {"G", Role::error, "gradient of the batch"}},
       {token ? "G_before" : "G_in", {token ? "G_{t-1}" : "G", Role::error, "sum of the gradients before"}},
       {token ? "G_after" : "G_out", {token ? "G_t" : "G'", Role::error, "sum of the gradients so far"}},
       {"update", {"\\Delta" + t, Role::error, "gradient of this token"}},
       {"first", {"t_c", Role::plain, "first token of each batch"}},
       {"later", {"u", Role::plain, "1 if a token reads its own batch's update"}},
       {"coefficients", {"a,b,c", Role::plain, "coefficients of the five steps"}},
       {"G_all", {"G", Role::error, "gradients of all batches"}},
       {"M_all", {"M", Role::state, "directions of all batches", false}},
       {"X_all", {"X", Role::state, "steps of all batches", false}},
       {"S_all", {"S", Role::state, "memory after each batch", false}}});
  symbols[token ? "r" : "R"] = {token ? "r_t" : "R", Role::error, "error v − v̂"};
  symbols[token ? "old" : "OLD"] = {token ? "\\hat v_t" : "\\hat V", Role::error, "prediction v̂"};
  for (const char* name : {"a", "b", "c"}) {
    symbols[name] = {name, Role::plain, "coefficient"};
    for (int i = 1; i <= step_count; ++i) {
      symbols[fmt::format("{}_{}", name, i)] = {fmt::format("{}_{}", name, i), Role::plain, "coefficient"};
    }
  }
  for (int i = 0; i <= step_count; ++i) {
    symbols[fmt::format("X_{}", i)] = {fmt::format("X_{}", i), Role::state, fmt::format("after step {}", i),
                                       false};
    symbols[fmt::format("B_{}", i)] = {fmt::format("B_{}", i), Role::plain, "Gram matrix"};
  }
  return symbols;
}

}  // namespace

Steps lact_steps(const LactShown& shown) { return {lact_phases(shown), lact_symbols(shown)}; }

}  // namespace palimpsest
