#pragma once

#include <vector>

#include "core/contract/variant.h"
#include "core/rules/inner_problem.h"

namespace palimpsest {

/// What one unit sends to another.
struct NetworkPath {
  Index from = 0;
  Index to = 0;
  double amount = 0;  // the unit times the weight
};

/// One word on its way through a memory that is a network with one hidden layer: h = gelu(W1^T k + b1), y =
/// W2^T h + b2 (with a layer norm y is what comes before it).
struct NetworkPass {
  Vector<double> key;                 // [K]
  Vector<double> hidden;              // [H]
  Vector<double> answer;              // [V]
  Vector<double> value;               // [V]: what should be there
  std::vector<NetworkPath> in = {};   // the strongest from key to hidden, the weakest of them first
  std::vector<NetworkPath> out = {};  // from hidden to answer
};

/// For the pair of `token`, `W` in the order W1, b1, W2, b2; at most `count` paths of each layer. Throws
/// InputError where the weights are no such network.
NetworkPass network_pass(const Variant& variant, const Sequence& sequence, Index token,
                         const Weights<double>& W, Index count = 96);

}  // namespace palimpsest
