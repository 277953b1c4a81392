#pragma once

#include <cstdint>

namespace palimpsest {

/// More layers than any inner network has.
inline constexpr int largest_layer_count = 2;

/// One layer of the inner networks of all heads, in device memory: its parameters, carried, and what it makes
/// of the tokens of a piece. L: tokens of the largest piece.
template <class Scalar>
struct NetworkLayer {
  std::int64_t inputs = 0;        // D
  std::int64_t outputs = 0;       // E
  Scalar* weights = nullptr;      // [H, D, E]
  Scalar* bias = nullptr;         // [H, E]; null: the layers have none
  Scalar* weights_sum = nullptr;  // [H, D, E], of the gradients of the batch so far
  Scalar* bias_sum = nullptr;     // [H, E]
  Scalar* own_weights = nullptr;  // [H, D, E], of the last token
  Scalar* own_bias = nullptr;     // [H, E]
  Scalar* Z = nullptr;            // [H, L, E], its answers to the keys
  Scalar* G = nullptr;            // [H, L, E], the gradient there
  Scalar* step = nullptr;         // [H, L, E], eta G
  Scalar* P = nullptr;            // [H, L, L], who reads whom; null: primal
  Scalar* Z_q = nullptr;          // [H, L, E], its answers to the queries
  Scalar* hidden = nullptr;       // [H, L, E], gelu(Z), of every layer but the last
  Scalar* X = nullptr;            // [H, L, E], gelu(Z_q), likewise
};

/// The inner networks of all heads (core/engines/inner_network.h), their tokens and what a piece of them
/// makes.
template <class Scalar>
struct Networks {
  std::int64_t heads = 0;  // H
  std::int64_t T = 0;      // tokens
  std::int64_t K = 0;
  std::int64_t V = 0;
  std::int64_t L = 0;              // tokens of the largest piece
  const Scalar* Q = nullptr;       // [H, T, K]
  const Scalar* keys = nullptr;    // [H, T, K]
  const Scalar* values = nullptr;  // [H, T, V]
  const Scalar* eta = nullptr;     // [H, T]
  const Scalar* sigma = nullptr;   // [H, T]
  Scalar* O = nullptr;             // [H, T, V]
  int layers = 0;
  NetworkLayer<Scalar> layer[largest_layer_count] = {};

  const Scalar* gain = nullptr;       // [H, V] of the layer norm; null: none
  const Scalar* norm_bias = nullptr;  // [H, V]
  const Scalar* eps = nullptr;        // [H]
  Scalar* standardised = nullptr;     // [H, L, V]
  Scalar* deviation = nullptr;        // [H, L]
  Scalar* error = nullptr;            // [H, L, V]
  Scalar* delta = nullptr;            // [H, L, V]

  /// Takes tokens `first` to `end` - 1 of all heads in pieces of at most L that never cross the end of an
  /// inner batch of `batch` tokens; where one ends, also with the last token, the next one's weights are
  /// made. `dual`: no token gets weights of its own; else a piece is one token. Throws Error with CUDA's
  /// words.
  void walk(bool dual, std::int64_t batch, std::int64_t first, std::int64_t end) const;

  /// Takes all tokens of all heads as one piece, whose batch goes on. Throws Error with CUDA's words.
  void walk_piece(bool dual) const;

  /// The weights of token `token`, W - sigma A, as the batch has been summed up; with `begins_batch` they
  /// become the weights of the next batch, whose sums are 0.
  void make_own_weights(std::int64_t token, bool begins_batch) const;
};

}  // namespace palimpsest
