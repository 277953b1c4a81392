#pragma once

#include <vector>

#include "core/contract/variant.h"
#include "core/rules/row_rule.h"

// What rules that learn in inner batches (TTT, LaCT) share.

namespace palimpsest {

/// The inputs that both TTT rules share: eta, sigma and the layer norm.
inline std::vector<Input> ttt_inputs() {
  const Condition layer_norm = {{"layer_norm"}, "true"};
  return {
      demonstrated({"eta", {"n"}, Range::non_negative, "learning rate"},
                   {.value = 0.05, .learning_rate = true}),
      {"sigma",
       {"batch"},
       Range::non_negative,
       "position factor inside the inner batch: token i sees W_ref - sigma_i sum eta_j grad_j (ttt-lm: 1/i "
       "plus a learned offset)",
       "1"},
      demonstrated({"ln_weight", {"d"}, Range::finite, "layer-norm gain", {}, layer_norm}, {.value = 1}),
      {"ln_bias", {"d"}, Range::finite, "layer-norm bias", {}, layer_norm}};
}

/// The parameters that both TTT rules share. The epsilon keeps a constant row finite in f32 too, so it has a
/// smallest value.
inline std::vector<Parameter> ttt_parameters() {
  return {{.name = "batch",
           .minimum = 1,
           .maximum = 1e15,
           .meaning = "tokens per inner batch",
           .whole = true,
           .stand_in = 8},
          {.name = "ln_eps",
           .minimum = 1e-30,
           .maximum = 1e30,
           .meaning = "layer-norm epsilon",
           .standard = 1e-6}};
}

/// How the row programs of rules that learn in inner batches (TTT-Linear, LaCT) write their steps: the write
/// strength is the learning rate eta.
inline Notation learning_notation(const Settings&) {
  return {.token = {.q = "q", .k = "k", .v = "v", .o = "o", .beta = "eta"},
          .rows = {.q = "Q", .k = "K", .v = "V", .o = "O", .beta = "eta"},
          .symbols = {{"eta", {"\\eta", Role::strength, "learning rate"}}}};
}

}  // namespace palimpsest
