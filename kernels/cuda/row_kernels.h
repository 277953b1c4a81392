#pragma once

#include "kernels/cuda/row_programs.h"

namespace palimpsest {

/// What the last row of the one head makes on its way, for a trace; null: nobody asks.
template <class Scalar>
struct RecurrentTap {
  Scalar* S_before = nullptr;      // [p K, V]
  Scalar* S_moved = nullptr;       // [p K, V], decayed or mixed
  Scalar* old = nullptr;           // [V]
  Scalar* error = nullptr;         // [V]
  Scalar* update = nullptr;        // [K, V]
  Scalar* plain_update = nullptr;  // [K, V]
};

/// Starts the plain kernel of the recurrent form: any structure, any size. The final state must have its own
/// memory or be the initial one. Throws Error with CUDA's words.
template <class Scalar>
void recurrent_rows(const RowPrograms<Scalar>& programs, const RecurrentTap<Scalar>& tap = {});

/// The most key channels that recurrent_scalar_decay() holds.
inline constexpr std::int64_t recurrent_scalar_decay_largest_K = 896;

/// Starts the fast kernel of the recurrent form for programs with no decay or one per token, alpha itself,
/// with or without erase by k. Throws Error with CUDA's words.
template <class Scalar>
void recurrent_scalar_decay(const RowPrograms<Scalar>& programs);

/// What a trace of one chunk of one head asks for besides; null: nobody asks.
template <class Scalar>
struct ChunkTap {
  Scalar* R = nullptr;          // [L, V]
  Scalar* inter = nullptr;      // [reads, V]
  Scalar* intra = nullptr;      // [reads, V]
  Scalar* S_written = nullptr;  // [p K, V]
};

/// Some chunks of row programs that follow each other, from row `first_row` on, and what their rows see of
/// each other, for all heads: tables [B H, chunks, ..] in device memory, as core/engines/chunkwise.cpp names
/// them. Of the last chunk only the rows that there are.
template <class Scalar>
struct Chunks {
  std::int64_t first_row = 0;
  std::int64_t count = 0;  // chunks
  std::int64_t L = 0;      // rows of a chunk
  std::int64_t reads = 0;  // of a chunk: L / rows_per_read

  Scalar* P = nullptr;        // [reads, L] q_s^T Phi(s, j) b_j
  Scalar* N = nullptr;        // [L, L] a_i^T Phi(i, j) b_j; with erase
  Scalar* P_plain = nullptr;  // with k+ for b
  Scalar* N_plain = nullptr;
  Scalar* g_in = nullptr;   // [L, 1 or K] decays from the start of the chunk; with decay
  Scalar* g_out = nullptr;  // [L, 1 or K] and to its end
  Scalar* m_in = nullptr;   // [L, V]; with value decay
  Scalar* m_out = nullptr;
  Scalar* sight_in = nullptr;        // [reads, p] weights of the parts carried in; of a state in parts
  Scalar* erase_sight_in = nullptr;  // [L, p]
  Scalar* weights_out = nullptr;     // [L, p]
  Scalar* total = nullptr;           // [p, p]

  Scalar* U = nullptr;     // [L, V] what the rows write
  Scalar* S_in = nullptr;  // [p K, V] the state before each chunk; where it is read later

  /// Fills all tables of the chunks but U and S_in. Throws Error with CUDA's words, as all of these do, and
  /// Unsupported where key channels decay for themselves and are more than a block's shared memory holds
  /// (four numbers each).
  void make_tables(const RowPrograms<Scalar>& programs) const;

  /// What is left of each write when somebody reads, one number for each pair: [L, L] of the rows' own
  /// readers, [reads, L] of those who read (`are_reads`). Of one decay per row, or of a state in parts, seen
  /// with `sight`.
  void make_weights(const RowPrograms<Scalar>& programs, const ReaderTimes& readers,
                    const DeviceRows<const Scalar>& sight, bool are_reads, Scalar* weights) const;

  /// The chunkwise form: chunk after chunk U, the outputs and the state, from final_state on, where the
  /// initial one must stand already. `outputs`: false leaves them to read() and keeps S_in.
  void chain(const RowPrograms<Scalar>& programs, bool outputs, const ChunkTap<Scalar>& tap = {}) const;

  /// The second of two passes, and how the parallel form reads: all outputs at once, from S_in and U.
  void read(const RowPrograms<Scalar>& programs, const ChunkTap<Scalar>& tap = {}) const;
};

}  // namespace palimpsest
