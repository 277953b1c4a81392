#pragma once

#include <cstdint>

namespace palimpsest {

/// Room for solves of as many blocks.
template <class Scalar>
struct SolveRooms {
  std::int64_t blocks = 0;
  Scalar* M = nullptr;            // [blocks, K, K]
  std::int64_t* order = nullptr;  // [blocks, K]
};

/// Chunks of MesaNet of all heads in device memory (core/engines/mesanet.h), and what each makes: a head has
/// C chunks of L tokens. Tokens that neither fade nor write nor ask may fill the last one. N = H C chunks.
template <class Scalar>
struct MesaChunks {
  std::int64_t heads = 0;   // H
  std::int64_t chunks = 0;  // C
  std::int64_t L = 0;
  std::int64_t K = 0;
  std::int64_t V = 0;
  const Scalar* q = nullptr;      // [N, L, K]
  const Scalar* k = nullptr;      // [N, L, K]
  const Scalar* v = nullptr;      // [N, L, V]
  const Scalar* beta = nullptr;   // [N, L]
  const Scalar* gamma = nullptr;  // [N, L]
  const Scalar* ridge = nullptr;  // [H, K, K]
  Scalar* state = nullptr;        // [H, C + 1, K, K + V]: before every chunk, and after the last
  Scalar* W = nullptr;            // [N, L, L]
  Scalar* g_in = nullptr;         // [N, L]
  Scalar* g_out = nullptr;        // [N, L]
  Scalar* X = nullptr;            // [N, L, K]
  Scalar* A = nullptr;            // [N, L, L]
  Scalar* O = nullptr;            // [N, L, V]

  // Of conjugate gradients.
  Scalar* R = nullptr;               // [N, L, K], what is left
  Scalar* P = nullptr;               // [N, L, K], the directions
  Scalar* MP = nullptr;              // [N, L, K]
  Scalar* preconditioner = nullptr;  // [N, L, K]

  // What a trace asks besides; null: nobody asks.
  Scalar* G = nullptr;       // [N, L, L]
  Scalar* Q_back = nullptr;  // [N, L, K]
  Scalar* inter = nullptr;   // [N, L, V]
  Scalar* intra = nullptr;   // [N, L, V]

  /// W, g_in and g_out, and from the state before the first chunk those after it. All want one token at least
  /// and throw Error with CUDA's words.
  void make_states() const;

  /// X by conjugate gradients, directly where they do not come down; A is used up.
  void solve(const SolveRooms<Scalar>& rooms) const;

  /// A and O, from X.
  void read() const;

  /// Recurrent: tokens `first` to `end` - 1 of all heads; a head is one chunk, whose state is advanced. One
  /// room for each head. `decayed` [H, K, K + V], of the last token, or null.
  void walk(const SolveRooms<Scalar>& rooms, std::int64_t first, std::int64_t end, Scalar* decayed) const;

  /// Parallel: X of tokens `first` to `end` - 1, a head is one chunk. Hkk [H, K, K] is advanced. One room for
  /// each token of every head.
  void solve_tokens(const SolveRooms<Scalar>& rooms, std::int64_t first, std::int64_t end, Scalar* Hkk) const;
};

}  // namespace palimpsest
