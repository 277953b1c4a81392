#pragma once

#include "kernels/cuda/head_matrices.h"

namespace palimpsest {

/// What the last token of the one head makes on its way, for a trace; null: nobody asks.
template <class Scalar>
struct MambaTap {
  Scalar* E = nullptr;          // [K, V]
  Scalar* S_decayed = nullptr;  // [K, V]
  Scalar* u = nullptr;          // [V]
  Scalar* update = nullptr;     // [K, V]
  Scalar* read = nullptr;       // [V]
};

/// What the chunkwise form keeps of one chunk of all heads.
template <class Scalar>
struct MambaTables {
  Scalar* U = nullptr;     // [H, L, V] delta o v
  Scalar* E = nullptr;     // [H, L, K V] decays, of a row after a scan: from the start of the chunk
  Scalar* B = nullptr;     // [H, L, K V] writes, of a row after a scan: all up to it; then every state
  Scalar* E_to = nullptr;  // [H, L, K V] room: a pass of the scan reads the one pair and writes the other
  Scalar* B_to = nullptr;  // [H, L, K V]
  Scalar* read = nullptr;  // [H, L, V] S^T q, without the skip connection; null: nobody asks
};

/// Some tokens of Mamba's selective state space of all heads in device memory: core/engines/mamba.h.
template <class Scalar>
struct MambaTokens {
  std::int64_t heads = 1;  // B H
  std::int64_t T = 0;
  std::int64_t K = 0;
  std::int64_t V = 0;
  DeviceRows<const Scalar> q = {};      // [T, H, K], scaled
  DeviceRows<const Scalar> k = {};      // [T, H, K]
  DeviceRows<const Scalar> v = {};      // [T, H, V]
  DeviceRows<const Scalar> delta = {};  // [T, H, V]
  DeviceRows<const Scalar> A = {};      // [K, H, V]
  DeviceRows<const Scalar> D = {};      // [1, H, V]; none: no skip connection
  DeviceRows<Scalar> o = {};            // [T, H, V]
  Scalar* S = nullptr;                  // [H, K, V], the initial state and then the final one

  /// Recurrent form, token by token. Throws Error with CUDA's words, as all of these do.
  void walk(const MambaTap<Scalar>& tap = {}) const;

  /// Fills U, E and B of all tokens as one chunk.
  void make_pairs(const MambaTables<Scalar>& tables) const;

  /// One pass of the scan: composes every row with the one `distance` before it, from E and B to E_to and
  /// B_to.
  void scan_pass(const MambaTables<Scalar>& tables, std::int64_t distance) const;

  /// Adds what is left of the state carried in to B, reads every state and advances S to the last one.
  void read(const MambaTables<Scalar>& tables) const;
};

}  // namespace palimpsest
