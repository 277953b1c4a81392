#pragma once

#include "core/row_rule.h"

namespace palimpsest {

/// How the row programs of rules that learn in inner batches (TTT-Linear, LaCT) write their steps: the write
/// strength is a learning rate.
inline Notation learning_notation(const Settings&) {
  const Symbol eta = {"\\eta", Role::strength, "learning rate"};
  return {.symbols = {{"beta", eta}, {"eta", eta}}};
}

}  // namespace palimpsest
