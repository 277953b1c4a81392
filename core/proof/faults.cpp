#include "core/proof/faults.h"

#include <fmt/format.h>

namespace palimpsest {

namespace {

using Kind = Expression::Kind;
using Changed = std::optional<Expression>;
using Edit = std::function<Expression(const Expression&)>;
using Test = std::function<bool(const Expression&)>;

bool is(const Expression& x, Kind kind) { return x.kind() == kind; }
bool is_product(const Expression& x) { return is(x, Kind::product) || is(x, Kind::hadamard); }

const Expression& first(const Expression& x) { return x.arguments()[0]; }
const Expression& second(const Expression& x) { return x.arguments()[1]; }

std::vector<Expression> arguments_of(const Expression& x) {
  return {x.arguments().begin(), x.arguments().end()};
}

Replacement calls(std::vector<std::string> functions, Edit edit) {
  return [=](const Expression& x) -> Changed {
    const bool is_meant = is(x, Kind::function) && is_among(x.name(), functions);
    return is_meant ? Changed(edit(x)) : std::nullopt;
  };
}

/// Replaces tensors of these names by other expressions.
Replacement tensors(std::map<std::string, Expression> others) {
  return [others = std::move(others)](const Expression& x) -> Changed {
    const auto other = is(x, Kind::tensor) ? others.find(x.name()) : others.end();
    return other == others.end() ? std::nullopt : Changed(other->second);
  };
}

/// An edit of whole formulas, not of pieces: it is asked once.
Replacement whole(std::function<Changed(const Expression&)> edit) {
  return [edit = std::move(edit)](const Expression& x) -> Changed {
    const Changed other = edit(x);
    return other ? *other : x;
  };
}

/// Without a factor that `dropped` recognises: the other one alone.
Replacement without_factor(Test dropped) {
  return [dropped = std::move(dropped)](const Expression& x) -> Changed {
    if (!is_product(x)) return std::nullopt;
    if (dropped(first(x))) return replaced(second(x), without_factor(dropped));
    if (dropped(second(x))) return replaced(first(x), without_factor(dropped));
    return std::nullopt;
  };
}

Replacement without_call(const std::string& function) {
  return without_factor([function](const Expression& x) { return is_call(x, function); });
}

/// A tensor of `role`, its transpose, Diag or 1 less it.
Test some(const EquationEditor& equations, Role role) {
  return [&equations, role](const Expression& x) {
    const bool wrapped = is(x, Kind::transpose) || is(x, Kind::diagonal) || is_call(x, "one_minus");
    return equations.is(wrapped ? first(x) : x, role);
  };
}

/// The erase reads the state before its decay, one decay fewer.
void undecayed_erase(EquationEditor& equations) {
  equations.replace({Purpose::read}, tensors({{"S_decayed", tensor("S_before")}}));
  equations.replace({Purpose::overlap}, [](const Expression& x) -> Changed {
    if (!is_call(x, "strictly_lower")) return std::nullopt;
    const Expression& scores = first(x);
    if (is_call(scores, "decay_scores")) return renamed("decay_scores", "decay_scores_before")(scores);
    if (!is(scores, Kind::hadamard)) return std::nullopt;
    return hadamard(first(scores), call("decay_mask_before", {tensor("alpha")}));
  });
  equations.replace({Purpose::rest}, tensors({{"g_in", call("cumulative_decay_before", {tensor("alpha")})},
                                              {"m_in", call("cumulative_decay_before", {tensor("mu")})}}));
}

/// Masks are recognised by their purpose, whatever function makes them; one of logarithms becomes 0.
void ungated_mask(EquationEditor& equations) {
  const auto ungated = [](const Expression& x) {
    if (!is_call(x, "log_decays")) return call("causal_ones", {x});
    std::vector<Expression> arguments = arguments_of(x);
    arguments[0] = call("one_minus", {call("all_ones", {arguments[0]})});
    return call(x.name(), arguments);
  };
  equations.replace({Purpose::mask}, [&](const Expression& x) -> Changed {
    return is(x, Kind::function) ? Changed(ungated(x)) : std::nullopt;
  });
  equations.replace({Purpose::erase_mask}, [&](const Expression& x) -> Changed {
    return is(x, Kind::function) ? Changed(call("strictly_lower", {ungated(x)})) : std::nullopt;
  });
  const auto scores = [](const char* masked) {
    return [masked](const Expression& x) { return call(masked, {first(x) * transpose(second(x))}); };
  };
  for (const auto& [function, masked] :
       {std::pair("decay_scores", "lower"), {"decay_scores_before", "strictly_lower"}})
    equations.replace({Purpose::scores, Purpose::overlap}, calls({function}, scores(masked)));
}

void edit_solves(EquationEditor& equations, Edit edit) {
  equations.replace({Purpose::solve}, calls({"solve_unit_lower", "solve_fading"}, std::move(edit)));
}

void solve_sign(EquationEditor& equations) {
  edit_solves(equations, [](const Expression& x) {
    std::vector<Expression> arguments = arguments_of(x);
    arguments[0] = call("negative", {arguments[0]});
    return call(x.name(), arguments);
  });
}

/// A carry inside a batch is not an initial state.
void initial_state_dropped(EquationEditor& equations) {
  equations.carries([&](std::vector<Carry>& carries) {
    for (Carry& carry : carries) {
      const bool is_state = equations.is(tensor(carry.to), Role::state);
      if (is_state && carry.when != Carry::When::going_on) carry.starts_empty = true;
    }
  });
}

/// Only where a prediction is corrected: an output is not erased.
void stale_erase(EquationEditor& equations) {
  const auto late = [&](const Expression& x) -> Changed {
    if (!equations.is(x, Role::state)) return std::nullopt;
    return equations.one_block_late(x.name());
  };
  if (equations.has(Purpose::error)) equations.replace({Purpose::read}, late);
  equations.replace({Purpose::prediction}, late);
  equations.replace({Purpose::overlap},
                    whole([](const Expression& x) { return call("lower_but_one", {x}); }));
}

void transposed_state(EquationEditor& equations) {
  const auto turned = [&](const Expression& x) -> Changed {
    if (equations.is(x, Role::state)) return transpose(x);
    if (is(x, Kind::transpose) && equations.is(first(x), Role::state)) return first(x);
    return std::nullopt;
  };
  equations.replace({Purpose::read, Purpose::output, Purpose::inter, Purpose::ask},
                    [&](const Expression& x) -> Changed {
                      if (!is(x, Kind::product)) return std::nullopt;
                      const Changed left = turned(first(x));
                      const Changed right = turned(second(x));
                      if (!left && !right) return std::nullopt;
                      return left.value_or(first(x)) * right.value_or(second(x));
                    });
}

Changed scaled_twice(const Expression& x) {
  const bool is_scaled = is(x, Kind::product) && first(x) == tensor("scale");
  return is_scaled ? Changed(tensor("scale") * x) : std::nullopt;
}

/// As a factor it is removed; a function that takes it gets 1.
void strength_forgotten(EquationEditor& equations) {
  equations.replace({}, without_factor(some(equations, Role::strength)));
  equations.replace({}, [&](const Expression& x) -> Changed {
    return equations.is(x, Role::strength) ? Changed(call("all_ones", {x})) : std::nullopt;
  });
}

void normaliser_forgotten(EquationEditor& equations) {
  for (const auto& [function, other] :
       {std::pair("normalise", "first_channels"), {"row_normalise", "row_first_channels"}}) {
    equations.replace({Purpose::normalise},
                      calls({function}, [&](const Expression& x) { return call(other, {first(x)}); }));
  }
  equations.replace({Purpose::output, Purpose::normalise}, calls({"divide_rows"}, first));
  equations.replace({Purpose::output}, without_call("reciprocal"));
}

/// Sums over the rows of a block: X^T Y, or the rows of X added up.
void edit_carried_rows(EquationEditor& equations, const std::string& function) {
  equations.replace({Purpose::gathered, Purpose::carry, Purpose::keys},
                    [function](const Expression& x) -> Changed {
                      if (is_call(x, "sum_of_rows")) return call(x.name(), {call(function, {first(x)})});
                      if (!is(x, Kind::product) || !is(first(x), Kind::transpose)) return std::nullopt;
                      return transpose(call(function, {first(first(x))})) * second(x);
                    });
}

Changed without_momentum(const Expression& x) {
  if (is_call(x, "batch_momentum")) return first(x);
  if (is(x, Kind::sum) && is(first(x), Kind::product)) return second(x);
  return std::nullopt;
}

void state_never_fades(EquationEditor& equations) {
  equations.replace({Purpose::decay, Purpose::carry, Purpose::keys, Purpose::write},
                    [&](const Expression& x) -> Changed {
                      if (is_call(x, "mix_parts")) return second(x);
                      const auto gate = some(equations, Role::gate);
                      const auto fades = [&](const Expression& y) {
                        return is_product(y) && (gate(first(y)) || gate(second(y)));
                      };
                      if (!fades(x)) return std::nullopt;
                      const Expression& left = gate(first(x)) ? second(x) : first(x);
                      return fades(left) ? (gate(first(left)) ? second(left) : first(left)) : left;
                    });
}

Changed with_other_sign(const Expression& x) {
  if (is(x, Kind::sum)) return first(x) - second(x);
  if (is(x, Kind::difference)) return first(x) + second(x);
  return std::nullopt;
}

Changed without_subtrahend(const Expression& x) {
  return is(x, Kind::difference) ? Changed(first(x)) : std::nullopt;
}

/// In the forms of many rows the diagonal of the scores goes; in the recurrent form the state after the write
/// becomes the one before it.
void read_before_write(EquationEditor& equations) {
  std::vector<Carry> states;
  equations.carries([&](const std::vector<Carry>& carries) {
    for (const Carry& carry : carries) {
      if (carry.when == Carry::When::always && carry.from.ends_with("_after")) states.push_back(carry);
    }
  });
  equations.replace({Purpose::output, Purpose::ask}, [&](const Expression& x) -> Changed {
    if (!is(x, Kind::tensor)) return std::nullopt;
    const auto state = std::ranges::find(states, x.name(), &Carry::from);
    const bool is_before = state != states.end() && state->to.ends_with("_before");
    return is_before ? Changed(tensor(state->to)) : std::nullopt;
  });
  equations.replace({Purpose::scores}, whole([&](const Expression& x) -> Changed {
                      if (is_call(x, "lower")) return call("strictly_lower", {first(x)});
                      const bool is_gated = is(x, Kind::hadamard) && is(first(x), Kind::product) &&
                                            equations.is(second(x), Role::gate) &&
                                            second(x) != tensor("G_before");
                      if (is_gated || is_call(x, "decay_scores")) return call("strictly_lower", {x});
                      return std::nullopt;
                    }));
}

}  // namespace

std::span<const Fault> faults() {
  static const std::vector<Fault> table = {
      {"initial-state-dropped", "Initial state dropped",
       "The first block starts from an empty memory and ignores the initial state. A test that starts from 0 "
       "cannot detect it.",
       "an initial state", initial_state_dropped},
      {"undecayed-erase", "Decay and error swapped",
       "The prediction is read before the decay, not after it: right for Comba, wrong for Gated DeltaNet and "
       "KDA.",
       "an erase that reads the decayed memory", undecayed_erase},
      {"stale-erase", "Erase reads one state too early",
       "The prediction comes from the state one step earlier: the read does not wait for the write before "
       "it.",
       "an erase, or a prediction that is corrected", stale_erase},
      {"nothing-erased", "Erase omitted",
       "The value is written, not the error: the delta rule becomes linear attention.", "an error to write",
       replacing({Purpose::error, Purpose::rest}, whole(without_subtrahend))},
      {"write-sign", "Wrong sign of the write",
       "The step increases the loss. A common cause: the gradient is used as the error.",
       "a write in an equation of its own",
       replacing({Purpose::write, Purpose::carry, Purpose::learn}, whole(with_other_sign))},
      {"strength-forgotten", "Strength forgotten",
       "beta, the learning rate or the step size is omitted: every token is written in full.",
       "a write strength", strength_forgotten},
      {"strength-forgotten-in-solve", "beta forgotten in the solve",
       "The overlap of the keys is computed without beta. In the WY form, beta belongs in both W and U.",
       "an overlap of keys with a write strength",
       [](EquationEditor& equations) {
         equations.replace({Purpose::overlap}, without_factor(some(equations, Role::strength)));
       }},
      {"solve-sign", "Wrong sign in the solve",
       "I − N is inverted instead of I + N: the sign is lost between the recurrence and the triangular "
       "system.",
       "a triangular system, with two tokens in a block", solve_sign},
      {"no-solve", "No solve",
       "Every row is written as if it were the first of its block: the identity replaces the inverse.",
       "a triangular system, with two tokens in a block",
       [](EquationEditor& equations) { edit_solves(equations, second); }},
      {"ungated-mask", "Ungated mask",
       "Inside a block the mask has no decay: only the carried state has the gates.", "a mask with decay",
       ungated_mask},
      {"exclusive-gates", "Gates exclusive, not inclusive",
       "The running product stops before the token's own gate: an exclusive sum of logarithms instead of an "
       "inclusive one.",
       "a running product of gates",
       replacing({Purpose::fade_in}, renamed("cumulative_decay", "cumulative_decay_before"))},
      {"undecayed-read", "Memory read without its decay",
       "The queries of a block read the carried-in memory without its decay.",
       "a decayed read of the carried-in memory",
       [](EquationEditor& equations) {
         equations.replace({Purpose::inter}, without_factor(some(equations, Role::gate)));
       }},
      {"state-never-fades", "State carried on undecayed",
       "The carried state does not decay; only what is read from it does.",
       "a memory that decays in an equation", state_never_fades,
       "the states that the decay would mix into the memory start as 0"},
      {"writes-never-fade", "Writes carried on undecayed",
       "The writes of a block are carried on in full, without the decay to its end.",
       "writes that decay to the end of a block",
       replacing({Purpose::gathered, Purpose::carry, Purpose::keys}, without_factor([](const Expression& x) {
                   return is(x, Kind::tensor) && is_among(x.name(), {"g_out", "m_out"});
                 }))},
      {"edge-lost", "Last row lost at a chunk's edge",
       "The carry omits the last row of a block: an off-by-one error.", "a sum over the rows of a block",
       [](EquationEditor& equations) { edit_carried_rows(equations, "without_last_row"); }},
      {"edge-doubled", "Last row doubled at the edge",
       "The carry takes the last row of a block twice: two ranges include the same end.",
       "a sum over the rows of a block",
       [](EquationEditor& equations) { edit_carried_rows(equations, "last_row_twice"); }},
      {"read-before-write", "Read before the write",
       "A token does not read its own write: a strict mask instead of an inclusive one.",
       "a read of the token's own write", read_before_write, "no token reads the writes of its own batch"},
      {"transposed-state", "Transposed state",
       "S is read where Sᵀ is meant. The shapes agree if keys and values have equally many channels.",
       "a product of the memory and a query", transposed_state},
      {"scale-twice", "Scale applied twice", "The query is scaled once on input and again in the formula.",
       "a scale other than 1", replacing({}, scaled_twice),
       "the feature map divides by the norm of the query, which cancels the scale"},
      {"normaliser-forgotten", "Normaliser forgotten",
       "The weighted values are not divided by the sum of the weights.", "a sum of weights",
       normaliser_forgotten},
      {"multiplicative-mask", "Multiplicative mask in the softmax",
       "Later scores become 0 instead of minus infinity: exp(0) = 1, so later tokens keep a weight.",
       "a mask on scores, and a token that is not the last",
       replacing({}, renamed("causal", "causal_product"))},
      {"unscaled-merge", "Unscaled tile merge",
       "Earlier sums are not rescaled when a tile has a larger maximum. Without such a tile nothing changes.",
       "tiles that are merged",
       replacing({Purpose::denominator, Purpose::numerator}, without_call("exp_difference"))},
      {"momentum-dropped", "Momentum dropped", "Each step ignores the direction of the previous step.",
       "a momentum in an equation of its own", replacing({Purpose::momentum}, whole(without_momentum))},
      {"norm-not-differentiated", "Gradient ignores the layer norm",
       "The gradient is computed as if the output were not normalised.", "a layer norm inside the loss",
       replacing({Purpose::gradient}, calls({"layer_norm_gradient", "row_layer_norm_gradient"}, first))},
      {"bend-not-differentiated", "Gradient ignores the activation",
       "The backward pass treats the hidden units as linear.", "hidden units",
       replacing({Purpose::hidden_gradient}, without_call("gelu_derivative"))},
  };
  return table;
}

const Fault& find_fault(std::string_view id) {
  return find_row(faults(), id, &Fault::id, fmt::format("there is no fault \"{}\"; known are", id));
}

std::optional<Equations> with_fault(const Fault& fault, const Equations& right) {
  EquationEditor editor(right);
  fault.edit(editor);
  Equations faulty = editor.take();
  if (faulty == right) return std::nullopt;
  return faulty;
}

bool operator==(const Equations& a, const Equations& b) {
  return std::ranges::equal(a.phases, b.phases, [](const Phase& x, const Phase& y) {
    return x.carries == y.carries &&
           std::ranges::equal(x.operations, y.operations, [](const Operation& p, const Operation& q) {
             return p.equation.expression == q.equation.expression;
           });
  });
}

}  // namespace palimpsest
