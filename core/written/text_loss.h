#pragma once

#include "core/written/written_rule.h"

namespace palimpsest {

/// How the update of a rule compares with one step down the loss that its text gives: S - rate grad L(S), S
/// the memory that the loss reads.
struct StepOnLoss {
  std::string base;   // that memory, or the result that is one
  std::string rate;   // an input, a setting, a result or 1; empty: no name has its value
  double beside = 0;  // the share of the update's norm that is not along the gradient
};

/// Tried on random numbers: the text must have a loss.
StepOnLoss step_on_loss(const RuleText& rule);

/// The text's loss as the one that its rule learns by. Its problems refuse tokens whose update is no step
/// along its gradient.
InnerLoss text_loss(const WrittenRule& rule);

}  // namespace palimpsest
