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

  Expression query() const {
    const Expression q = tensor(token ? "q" : "Q");
    return shown.scaled ? tensor("scale") * q : q;
  }

  void output(PhaseBuilder& steps, const std::string& weights, const char* sentence) const {
    const Expression S = tensor(weights);
    steps.add_line({"output", Purpose::output, "What comes out", sentence, token ? "o" : "O",
                    token ? transpose(S) * query() : query() * S});
  }

  /// What the memory should learn to answer more of.
  Expression wanted() const { return tensor(shown.l2 ? (token ? "r" : "R") : (token ? "v" : "V")); }

  Phase gather() const {
    PhaseBuilder steps(token ? "token by token" : "piece by piece of an inner batch");
    if (!shown.update_first) {
      output(steps, "S_start", "The memory answers as it was before the batch: no token sees its own batch.");
    }
    if (shown.l2) {
      const Expression S = tensor("S_start");
      steps.add("read", Purpose::read, "What is there now",
                token ? "What does the memory already answer for “{token}”?"
                      : "What does the memory already answer for every key?",
                token ? "old" : "OLD", token ? transpose(S) * tensor("k") : tensor("K") * S);
      steps.add("missing", Purpose::error, "What is missing", "How far is that from what should be there?",
                token ? "r" : "R", token ? tensor("v") - tensor("old") : tensor("V") - tensor("OLD"));
      steps.line("What is missing", "What should be there, less what is there.", {token ? "old" : "OLD"});
    }
    steps.add("write", Purpose::gathered, "What is to be learned",
              token ? "What “{token}” asks for, laid down along its key. Nothing is written yet."
                    : "What the tokens ask for, laid down along their keys. Nothing is written yet.",
              "update",
              token ? tensor("eta") * tensor("k") * transpose(wanted())
                    : transpose(hadamard(tensor("eta"), tensor("K"))) * wanted());
    const bool goes_on = token || shown.divided;
    steps.add("gather", Purpose::gathered, "Gathered so far",
              token ? "The gradient of the batch: what all its words up to “{token}” ask for, added up."
                    : "The gradient of the batch: what all its words up to here ask for, added up.",
              after("G"), goes_on ? tensor(before("G")) + tensor("update") : tensor("update"));
    steps.line("Gathered, not yet written", "The gradient of the batch grows; the memory waits.", {"update"},
               2);
    steps.carry({{after("S"), "S_start", Carry::When::starting_anew},
                 {"S_start", "S_start", Carry::When::going_on},
                 {after("G"), before("G"), Carry::When::going_on}});
    return steps.take();
  }

  /// The coefficient called `name` of step i.
  Expression coefficient(const char* name, int i) const {
    return tensor(shown.tuned ? fmt::format("{}_{}", name, i) : name);
  }

  void newton_schulz(PhaseBuilder& steps) const {
    const Expression M = tensor(after("M"));
    steps.add("norm", Purpose::orthogonalise, "The size of it", "The root of the sum of all squares.", "norm",
              call("frobenius_norm", {M}));
    steps.add("normalise", Purpose::orthogonalise, "Brought to size 1",
              "Only the directions will matter from here on, not the size.", "X_0",
              call("reciprocal", {tensor("norm") + tensor("norm_eps")}) * (shown.tall ? transpose(M) : M));
    steps.line("Brought to size 1", "Only directions will matter, not the size.", {"norm"});
    for (int i = 1; i <= step_count; ++i) {
      const Expression X = tensor(fmt::format("X_{}", i - 1));
      const std::string gram = fmt::format("B_{}", i);
      const std::string next = fmt::format("X_{}", i);
      const Expression B = tensor(gram);
      steps.add(fmt::format("gram_{}", i), Purpose::orthogonalise, "How the rows overlap",
                "All rows against all rows: its polynomials stretch directions without turning them.", gram,
                X * transpose(X));
      steps.add(fmt::format("step_{}", i), Purpose::orthogonalise,
                fmt::format("Flattened, step {} of {}", i, step_count),
                "Weak directions are stretched, strong ones held: all singular values move towards 1.", next,
                coefficient("a", i) * X + (coefficient("b", i) * B + coefficient("c", i) * (B * B)) * X);
      steps.line(fmt::format("Flattened, step {}", i), "Weak directions are stretched, strong ones held.",
                 {gram});
    }
    std::vector<Expression> iterates;
    for (int i = 0; i <= step_count; ++i) iterates.push_back(tensor(fmt::format("X_{}", i)));
    steps.add("spectra", Purpose::orthogonalise, "The singular values",
              "Column by column, the singular values after each step: from steep to flat.", "spectra",
              call("spectra", iterates));
    steps.line("The singular values", "From steep to flat: every direction learns equally fast.");
  }

  Phase update() const {
    PhaseBuilder steps("the batch is done");
    const Expression G = tensor("G");
    steps.add("momentum", Purpose::momentum,
              shown.momentum ? "With what came before" : "What is to be learned",
              shown.momentum
                  ? "What all words of the batch ask for, added up, and a part of the last step's direction."
                  : "What all words of the batch ask for, added up. There is no momentum here: nothing of "
                    "the last step's direction is kept.",
              after("M"), shown.momentum ? tensor("momentum") * tensor(before("M")) + G : G);
    steps.line("The direction of the step", "What the whole batch asks for.");
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
      steps.add("column_norms", Purpose::restore_lengths, "The length of each column",
                "The step has made columns longer or shorter.", "column_norms",
                call("column_norms", {tensor("S_free")}));
      steps.add(
          "column_factors", Purpose::restore_lengths, "Back to its length",
          "By how much must each column be stretched to be as long as at the start?", "column_factors",
          call("restoring_factors", {tensor("column_norms"), tensor("column_norm"), tensor("column_eps")}));
      steps.add("normalise_columns", Purpose::restore_lengths, "The memory after",
                "Every column is as long as at the start: the memory turns, it does not grow.", after("S"),
                tensor("S_free") * diagonal(tensor("column_factors")));
    }
    steps.line("The memory is rewritten", "Once for the whole batch.", {"column_norms", "column_factors"}, 2);
    steps.carry({{"S_start", "S_start"}, {after("G"), "G"}, {after("M"), before("M")}});
    return steps.take();
  }

  Phase read() const {
    PhaseBuilder steps("every token reads its batch");
    output(steps, after("S"), "The memory answers with the whole batch in it, later tokens included.");
    steps.carry({{after("S"), after("S")}});
    return steps.take();
  }

  Phase scan() const {
    PhaseBuilder steps("all batches at once");
    steps.add("gradients", Purpose::gathered, "What each batch asks for",
              "No gradient needs the weights, so all of them are there at once.", "G_all",
              call("batch_products", {hadamard(tensor("eta"), tensor("K")), tensor("V"), tensor("first")}));
    steps.line("What each batch asks for", "All gradients at once, batch below batch.");
    std::string direction = "G_all";
    if (shown.momentum) {
      steps.add("momentum", Purpose::momentum, "With what came before",
                "A linear scan: each batch keeps a part of the one before.", "M_all",
                call("batch_momentum", {tensor(direction), tensor("momentum"), tensor("M_start")}));
      steps.line("With what came before", "A linear scan over the batches.");
      direction = "M_all";
    }
    steps.add_line({"last_momentum", Purpose::carry, "What is carried on", "The last batch's direction.",
                    "M_out", call("last_rows", {tensor(direction), tensor("M_start")})});
    if (shown.muon) {
      steps.add("orthogonalise", Purpose::orthogonalise, "Flattened",
                "Each batch by itself: all singular values are brought near 1.", "X_all",
                call("batch_newton_schulz", {tensor(direction), tensor("coefficients"), tensor("first")}));
      steps.line("Flattened", "Each batch by itself: all singular values near 1.");
      direction = "X_all";
    }
    steps.add("weights", Purpose::write, "The memory after each batch",
              "Running sums: every batch's step on top of those before.", "S_all",
              call("batch_weights", {tensor("S_start"), tensor(direction)}));
    steps.line("The memory after each batch", "Running sums of the steps.", {}, 2);
    steps.add("output", Purpose::output, "What comes out",
              shown.update_first ? "Every query reads the memory with its own batch in it."
                                 : "Every query reads the memory from before its batch.",
              "O", call("batch_reads", {query(), tensor("S_all"), tensor("first"), tensor("later")}));
    steps.line("What comes out", "Every query reads the memory of its batch.");
    steps.add_line({"carry", Purpose::carry, "What is carried on", "The memory after the last batch.",
                    "S_out", call("last_rows", {tensor("S_all"), tensor("S_start")})});
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
       {"column_eps", {"\\epsilon_c", Role::plain, "added to the length of a column"}},
       {"column_norm", {"\\ell_0", Role::plain, "lengths that the columns keep"}},
       {"column_norms", {"\\ell", Role::plain, "lengths of the columns"}},
       {"column_factors", {"f", Role::plain, "how much each column is stretched"}},
       {"norm", {"\\nu", Role::plain, "size"}},
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
       {token ? "G_before" : "G_in", {token ? "G_{t-1}" : "G", Role::error, "gathered before"}},
       {token ? "G_after" : "G_out", {token ? "G_t" : "G'", Role::error, "gathered so far"}},
       {"update", {"\\Delta" + t, Role::error, "what is to be learned"}},
       {"first", {"t_c", Role::plain, "first token of each batch"}},
       {"later", {"u", Role::plain, "1 if a token reads its own batch's update"}},
       {"coefficients", {"a,b,c", Role::plain, "coefficients of the five steps"}},
       {"G_all", {"G", Role::error, "gradients of all batches"}},
       {"M_all", {"M", Role::state, "directions of all batches", false}},
       {"X_all", {"X", Role::state, "steps of all batches", false}},
       {"S_all", {"S", Role::state, "memory after each batch", false}}});
  symbols[token ? "r" : "R"] = {token ? "r_t" : "R", Role::error, "what is missing"};
  symbols[token ? "old" : "OLD"] = {token ? "\\hat v_t" : "\\hat V", Role::error, "what is there now"};
  for (const char* name : {"a", "b", "c"}) {
    symbols[name] = {name, Role::plain, "coefficient"};
    for (int i = 1; i <= step_count; ++i) {
      symbols[fmt::format("{}_{}", name, i)] = {fmt::format("{}_{}", name, i), Role::plain, "coefficient"};
    }
  }
  for (int i = 0; i <= step_count; ++i) {
    symbols[fmt::format("X_{}", i)] = {fmt::format("X_{}", i), Role::state, fmt::format("after step {}", i),
                                       false};
    symbols[fmt::format("B_{}", i)] = {fmt::format("B_{}", i), Role::plain, "row overlap"};
  }
  return symbols;
}

}  // namespace

Steps lact_steps(const LactShown& shown) { return {lact_phases(shown), lact_symbols(shown)}; }

}  // namespace palimpsest
