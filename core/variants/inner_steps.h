#pragma once

#include "core/rules/row_rule.h"

namespace palimpsest {

/// How the row programs of rules that learn in inner batches (TTT-Linear, LaCT) write their steps: the write
/// strength is the learning rate eta.
inline Notation learning_notation(const Settings&) {
  return {.token = {.q = "q", .k = "k", .v = "v", .o = "o", .beta = "eta"},
          .rows = {.q = "Q", .k = "K", .v = "V", .o = "O", .beta = "eta"},
          .symbols = {{"eta", {"\\eta", Role::strength, "learning rate"}}}};
}

}  // namespace palimpsest
