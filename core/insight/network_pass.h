#pragma once

#include <vector>

#include "core/base/matrix.h"
#include "core/contract/variant.h"
#include "core/rules/inner_problem.h"

namespace palimpsest {

/// What one unit of a layer sends to a unit of the next.
struct StrongLink {
  Index from = 0;
  Index to = 0;
  double amount = 0;  // the unit times the weight, or what is taught
};

/// The strongest `count` of what runs between units, amounts [M, N], the weakest of them first; what is 0 or
/// not finite is left out.
std::vector<StrongLink> strong_links(const Matrix<double>& amounts, std::size_t count);

/// The same of all that x [M] sends through W [M, N].
std::vector<StrongLink> strong_links(const Matrix<double>& W, const Vector<double>& x, std::size_t count);

/// The strongest paths of both layers, the weakest of them first.
struct NetworkPaths {
  std::vector<StrongLink> in = {};   // from key to hidden
  std::vector<StrongLink> out = {};  // from hidden to output
};

/// The `count` largest entries of each of two matrices [K, H] and [H, V].
NetworkPaths strongest_paths(const Matrix<double>& in, const Matrix<double>& out, std::size_t count = 96);

/// One word on its way through a memory that is a network with one hidden layer, h = gelu(W1^T k + b1), y =
/// W2^T h + b2, f(k) = y or k + LN(y), and the gradients of 1/2 |f(k) - v|^2 on their way back, as the
/// engine takes them.
struct NetworkPass {
  Vector<double> key;                     // [K]
  Vector<double> hidden;                  // [H]
  Vector<double> output;                  // [V]: y
  Vector<double> answer;                  // [V]: f(k)
  Vector<double> value;                   // [V]: what should be there
  Vector<double> error;                   // [V]: answer - value
  Vector<double> output_gradient;         // [V]: at y; through the layer norm it is another than the error
  Vector<double> hidden_gradient;         // [H]: at W1^T k + b1
  Weights<double> weight_gradients = {};  // W1, b1, W2, b2
  NetworkPaths sent = {};                 // unit times weight
  NetworkPaths taught = {};               // what of the gradient reaches each weight

  bool is_normalised() const { return output != answer; }
};

/// For the pair of `token`, `W` in the order W1, b1, W2, b2; at most `count` paths of each layer. Throws
/// InputError where the weights are no such network.
NetworkPass network_pass(const Variant& variant, const Sequence& sequence, Index token,
                         const Weights<double>& W, std::size_t count = 96);

}  // namespace palimpsest
