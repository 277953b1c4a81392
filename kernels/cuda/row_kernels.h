#pragma once

#include <functional>

#include "kernels/cuda/head_matrices.h"

namespace palimpsest {

/// When the erases or the reads of a program read the state (core/operator/program.h: Reader), the same for
/// all heads. Times never decrease.
struct ReaderTimes {
  const std::int64_t* decays = nullptr;  // of the rows from the first on
  const std::int64_t* writes = nullptr;
};

/// The row programs of all heads in device memory, as kernels take them: the arrays of core/operator/
/// program.h. One without data is absent: no decay, strength 1.
template <class Scalar>
struct RowPrograms {
  std::int64_t heads = 1;  // H
  std::int64_t T = 0;      // rows of the state; N of a program
  std::int64_t K = 0;
  std::int64_t V = 0;
  bool erase = false;                   // u = v - S~^T a instead of v
  DeviceRows<const Scalar> q = {};      // [H, R, K]; arrays begin at 16 bytes, rows lie side by side
  DeviceRows<const Scalar> k = {};      // [H, T, K]
  DeviceRows<const Scalar> v = {};      // [H, T, V]
  DeviceRows<const Scalar> alpha = {};  // [H, T, 1 or K]; or its logarithm g
  DeviceRows<const Scalar> beta = {};   // [H, T, 1]
  DeviceRows<Scalar> o = {};            // [H, R, V]
  Scalar* state = nullptr;              // [H, p K, V], the initial one and then the final one

  // For the plain kernels (recurrent_rows.cu, chunk_rows.cu); the others (recurrent_registers.cu, hopper/,
  // tensor_float/) read only reads_first, decays_by_channel and gates_are_logs of these.
  std::int64_t R = 0;                         // reads; 0 where the program reads the final state
  std::int64_t rows_per_read = 1;             // rows of the state of one token
  bool reads_first = false;                   // o_t = S_{t-1}^T q_t, before the first row of its token
  std::int64_t parts = 1;                     // p
  bool has_parts = false;                     // the state is several side by side (momentum), even if one
  bool decays_by_channel = false;             // alpha is [H, T, K]
  bool gates_are_logs = false;                // alpha holds g = log alpha
  bool erases_undecayed = false;              // u = v - S_{r-1}^T a
  bool writes_value = true;                   // false: u = -S~^T a
  DeviceRows<const Scalar> a = {};            // [H, T, K]; k where the erase has no key of its own
  DeviceRows<const Scalar> mu = {};           // [H, T, V]
  DeviceRows<const Scalar> k_plain = {};      // [H, T, K]
  DeviceRows<const Scalar> v_plain = {};      // [H, T, V]
  DeviceRows<const Scalar> transition = {};   // [H, T, p p]
  DeviceRows<const Scalar> inject = {};       // [H, T, p]
  DeviceRows<const Scalar> erase_sight = {};  // [H, T, p]
  DeviceRows<const Scalar> read_sight = {};   // [H, R, p]
  ReaderTimes erases = {};                    // [T]
  ReaderTimes reads = {};                     // [R]
};

/// Some queries of all heads and some of the keys in their cache, in device memory: core/engines/softmax.h.
/// Scores get an added bias, or the decay from the gates between key and query, or neither.
template <class Scalar>
struct Attention {
  std::int64_t heads = 1;
  std::int64_t queries = 0;  // L, of a head
  std::int64_t keys = 0;     // M, of a head
  std::int64_t K = 0;
  std::int64_t V = 0;
  std::int64_t first_query = 0;             // number of query row 0
  std::int64_t first_key = 0;               // number of key row 0
  DeviceRows<const Scalar> q = {};          // [H, L, K], scaled
  DeviceRows<const Scalar> k = {};          // [H, M, K]
  DeviceRows<const Scalar> v = {};          // [H, M, V]
  const Scalar* bias = nullptr;             // [L, M], of a single head
  DeviceRows<const Scalar> log_gates = {};  // [H, p + T, 1], of all keys from number 0 on
};

/// What the last row of the one head computes, for a trace; null: not needed.
template <class Scalar>
struct RecurrentTap {
  Scalar* S_before = nullptr;      // [p K, V]
  Scalar* S_moved = nullptr;       // [p K, V], decayed or mixed
  Scalar* old = nullptr;           // [V]
  Scalar* error = nullptr;         // [V]
  Scalar* update = nullptr;        // [K, V]
  Scalar* plain_update = nullptr;  // [K, V]
};

/// Starts the plain kernel of the recurrent form: any structure, any size. Throws Error with CUDA's words.
template <class Scalar>
void recurrent_rows(const RowPrograms<Scalar>& programs, const RecurrentTap<Scalar>& tap = {});

/// The most key channels that recurrent_in_registers() holds.
constexpr std::int64_t recurrent_in_registers_largest_K(bool decays_by_channel) {
  return decays_by_channel ? 256 : 896;
}

/// Starts the fast kernel of the recurrent form for programs with no decay, one per token or one per key
/// channel, alpha itself, with or without erase by k. Throws Error with CUDA's words.
template <class Scalar>
void recurrent_in_registers(const RowPrograms<Scalar>& programs);

/// Whether recurrent_decode() takes these: K up to 256 (f64: 128), rows of K and of V numbers that are
/// multiples of 16 bytes.
template <class Scalar>
bool can_decode(const RowPrograms<Scalar>& programs);

/// The same as recurrent_in_registers(), which takes it for few tokens.
template <class Scalar>
void recurrent_decode(const RowPrograms<Scalar>& programs);

/// Further results of one chunk of one head, only for a trace; null: not needed.
template <class Scalar>
struct ChunkTap {
  Scalar* R = nullptr;          // [L, V]
  Scalar* inter = nullptr;      // [reads, V]
  Scalar* intra = nullptr;      // [reads, V]
  Scalar* S_written = nullptr;  // [p K, V]
};

/// Rows of a tile of a chunk whose key channels each have a decay.
inline constexpr std::int64_t rows_of_channel_tile = 128;

/// Some chunks of row programs that follow each other, from row `first_row` on, and what their rows see of
/// each other, for all heads: tables [H, chunks, ..] in device memory, as core/engines/chunkwise.cpp names
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

  // Where key channels each have a decay and a chunk has several tiles; null: one tile.
  std::int64_t channel_tiles = 1;
  Scalar* x_near = nullptr;      // [L, K] readers, decayed since an end of a tile
  Scalar* y_far = nullptr;       // [L, K] what is written, decayed to the end of its tile
  Scalar* tile_decay = nullptr;  // [tiles, K] decay of a whole tile, or its logarithm

  Scalar* U = nullptr;     // [L, V] what the rows write
  Scalar* S_in = nullptr;  // [p K, V] the state before each chunk; where it is read later

  /// Fills all tables of the chunks but U and S_in. Throws Error with CUDA's words, as all of these do, and
  /// Unsupported where key channels decay for themselves and are more than a block's shared memory holds
  /// (four numbers each).
  void make_tables(const RowPrograms<Scalar>& programs) const;

  /// The weight of each write for each reader: [L, L] for the erases of the rows, [reads, L] for the reads
  /// (`are_reads`). For one decay per row, or for a state in parts, seen with `sight`.
  void make_weights(const RowPrograms<Scalar>& programs, const ReaderTimes& readers,
                    const DeviceRows<const Scalar>& sight, bool are_reads, Scalar* weights) const;

  /// The chunkwise form: chunk after chunk U, the outputs and the state. `outputs`: false leaves them to
  /// read() and keeps S_in.
  void chain(const RowPrograms<Scalar>& programs, bool outputs, const ChunkTap<Scalar>& tap = {}) const;

  /// The second of two passes, and how the parallel form reads: all outputs at once, from S_in and U.
  void read(const RowPrograms<Scalar>& programs, const ChunkTap<Scalar>& tap = {}) const;
};

// The kernels on tensor cores, on the side of the host (tensor_rows.cpp).

namespace cuda {

/// Whether the first device has tensor cores for numbers with this rounding: for bf16 those that
/// kernels/cuda/hopper is written for.
bool has_tensor_cores(Rounding rounding);

/// Calls what launches the kernels of a run, between its uploads and its downloads.
using Computes = std::function<void(const std::function<void()>&)>;

/// Computes row programs of all heads in chunks on tensor cores, those that fit_tensor_cores()
/// (core/engines/device_engines.h), with sums and states in f32: in bf16 by chunks of 64 tokens of rows that
/// are rounded already, or in tf32 by chunks of 32. Outputs and final states go where `programs` wants them.
/// Throws Error where the device has no room for the tables.
void run_on_tensor_cores(const RowPrograms<float>& programs, Rounding rounding, const Computes& compute);

/// Computes causal softmax attention of all heads, that which fits_tensor_cores(), likewise: o [H, T, V]. The
/// last query's own key is the last one.
void run_on_tensor_cores(const Attention<float>& attention, const DeviceRows<float>& o, Rounding rounding,
                         const Computes& compute);

}  // namespace cuda

}  // namespace palimpsest
