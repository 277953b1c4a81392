#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/contract/variant.h"

namespace palimpsest {

/// How far every token steps: its learning rate times the curvature of its loss, beta |k|^2 of one pair.
struct StepReach {
  Vector<double> reach = {};    // [T]; of the last step where a token takes several
  Vector<double> squares = {};  // [T]: what the rate, the number of `array`, is multiplied with
  std::string array = {};       // the input that sets it ("beta", "theta", "eta"); empty: nothing does
  std::string symbol = {};    // LaTeX of the rate, "\\delta", where a rule makes it of that input; else empty
  bool is_network = false;    // the curvature is that along the gradient, and no |k|^2
  bool has_edge = false;      // whether the step erases: it lands on its target at 1, farther off above 2
  bool has_momentum = false;  // then it diverges elsewhere: what steps before have moved goes on
};

/// Throws Unsupported where tokens share no memory, Cancelled.
StepReach step_reach(const Variant& variant, const Sequence& sequence, std::stop_token stop = {});

/// The input with one row per token that sets how far a token steps; nothing where a rule has none.
std::optional<std::string> strength_array(const Variant& variant);

}  // namespace palimpsest
