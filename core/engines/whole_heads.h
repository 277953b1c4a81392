#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/engines/inner_network.h"
#include "core/engines/lact.h"
#include "core/engines/least_squares.h"
#include "core/engines/mamba.h"
#include "core/engines/mesanet.h"
#include "core/operator/program.h"

// What a device can do with whole heads at once (Engines::row_heads() and its like): inputs go there once,
// states in and out.

namespace palimpsest {

/// Row programs of all heads of a batch: of one structure and one size.
template <class Scalar>
class RowHeads {
 public:
  virtual ~RowHeads() = default;

  /// From first to last row, in chunks of `chunk_size` tokens where the form has chunks. Advances the states
  /// [p K, V] and returns what each head reads, [R, V]; no rows where it reads the final state. Throws
  /// Cancelled when asked to stop.
  virtual std::vector<Matrix<Scalar>> run(Form form, std::span<const Program<Scalar>> heads, Index chunk_size,
                                          std::span<Matrix<Scalar>> states,
                                          const std::stop_token& stop) const = 0;

  /// How many bytes the programs of one run() may have: a longer sequence comes part by part.
  virtual double most_bytes() const = 0;

  /// What run() takes for programs of this structure with K key channels where that never makes the tensors
  /// of a step: "one fused kernel on ...". Empty where it makes them as the engines of a trace do.
  virtual std::string fused(Form, const Structure&, Index /*K*/) const { return {}; }
};

/// The queries of one head, already scaled, and the cache that they see: that of earlier tokens first, the
/// last key the last query's own.
template <class Scalar>
struct CachedQueries {
  Matrix<Scalar> Q;          // [T, K]
  Matrix<Scalar> K;          // [p + T, K]
  Matrix<Scalar> V;          // [p + T, V]
  Matrix<Scalar> log_gates;  // [p + T, 1]: each fades all keys before its own; empty: nothing fades
};

/// Causal softmax attention of all heads of a batch: of one size.
template <class Scalar>
class SoftmaxHeads {
 public:
  virtual ~SoftmaxHeads() = default;

  /// What each head's queries get, [T, V], in tiles of `chunk_size` where the form has chunks. Throws
  /// Cancelled when asked to stop.
  virtual std::vector<Matrix<Scalar>> run(Form form, std::span<const CachedQueries<Scalar>> heads,
                                          Index chunk_size, const std::stop_token& stop) const = 0;

  /// What run() takes where that never makes the tensors of a step, as in RowHeads; `fades`: whether keys do.
  virtual std::string fused(Form, Index /*K*/, Index /*V*/, bool /*fades*/) const { return {}; }
};

/// Mamba's selective state space of all heads of a batch: of one size.
template <class Scalar>
class MambaHeads {
 public:
  virtual ~MambaHeads() = default;

  /// From first to last token, in chunks of `chunk_size` where the form has chunks. Advances the states [K,
  /// V] and returns the outputs, [T, V]. Throws Cancelled when asked to stop.
  virtual std::vector<Matrix<Scalar>> run(Form form, std::span<const MambaRows<Scalar>> heads,
                                          Index chunk_size, std::span<Matrix<Scalar>> states,
                                          const std::stop_token& stop) const = 0;
};

/// The gains of recursive least squares of all heads of a batch: of one size.
template <class Scalar>
class LeastSquaresHeads {
 public:
  virtual ~LeastSquaresHeads() = default;

  /// The gains of every head, [T, K]: key by key, or every token for itself (`solved`). Advances the P
  /// [K, K]. Throws Cancelled when asked to stop.
  virtual std::vector<Matrix<Scalar>> run(std::span<const LeastSquaresKeys<Scalar>> heads, bool solved,
                                          std::span<Matrix<Scalar>> P, const std::stop_token& stop) const = 0;
};

/// Inner networks of all heads of a batch: of one plan and one size.
template <class Scalar>
class NetworkHeads {
 public:
  virtual ~NetworkHeads() = default;

  /// All `pieces` of whole sequences, primal in the recurrent form, else dual. Advances what is carried and
  /// returns the outputs, [T, V]. Throws Cancelled when asked to stop.
  virtual std::vector<Matrix<Scalar>> run(Form form, std::span<const InnerNetwork<Scalar>> networks,
                                          std::span<const NetworkRows<Scalar>> heads,
                                          const InnerBatches& pieces, std::span<Carried<Scalar>> carried,
                                          const std::stop_token& stop) const = 0;
};

/// LaCT of all heads of a batch: of one size.
template <class Scalar>
class LactHeads {
 public:
  virtual ~LactHeads() = default;

  /// All batches of whole sequences: one after the other, or by the scan. Advances the weights S and the
  /// momenta M [K, V], and returns the outputs, [T, V]. Throws Cancelled when asked to stop.
  virtual std::vector<Matrix<Scalar>> run(const LactWay& way, std::span<const LactHead<Scalar>> heads,
                                          std::span<Matrix<Scalar>> S, std::span<Matrix<Scalar>> M,
                                          const std::stop_token& stop) const = 0;
};

/// MesaNet of all heads of a batch: of one size.
template <class Scalar>
class MesaHeads {
 public:
  virtual ~MesaHeads() = default;

  /// From first to last token, in chunks of `chunk_size` where the form has chunks. Advances the states [K, K
  /// + V] and returns the outputs, [T, V]. Throws Cancelled when asked to stop.
  virtual std::vector<Matrix<Scalar>> run(Form form, std::span<const MesaRows<Scalar>> heads,
                                          Index chunk_size, std::span<MesaState<Scalar>> states,
                                          const std::stop_token& stop) const = 0;
};

}  // namespace palimpsest
