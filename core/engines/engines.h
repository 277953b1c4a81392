#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <type_traits>
#include <vector>

#include "core/engines/device_engines.h"
#include "core/engines/inner_network.h"
#include "core/engines/lact.h"
#include "core/engines/least_squares.h"
#include "core/engines/mamba.h"
#include "core/engines/mesanet.h"
#include "core/engines/softmax.h"
#include "core/operator/program.h"

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
  virtual std::vector<Matrix<Scalar>> gains(std::span<const LeastSquaresKeys<Scalar>> heads, bool solved,
                                            std::span<Matrix<Scalar>> P,
                                            const std::stop_token& stop) const = 0;
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

/// The engines of one device in one precision. Every function computes what its namesake in core/engines does
/// (shapes and errors stand there) and hands the same tensors, by the same names, to a recorder. Rules and
/// their traces compute through one of these and never ask on what.
template <class Scalar>
class Engines {
 public:
  virtual ~Engines() = default;

  virtual Matrix<Scalar> recurrent(const Program<Scalar>& program, Matrix<Scalar>& S,
                                   Recorder* recorder) const = 0;
  virtual Matrix<Scalar> chunk(const Program<Scalar>& program, Matrix<Scalar>& S,
                               Recorder* recorder) const = 0;
  virtual Matrix<Scalar> chunk_state(const Program<Scalar>& program, Matrix<Scalar>& S,
                                     Recorder* recorder) const = 0;
  virtual Matrix<Scalar> chunk_outputs(const Program<Scalar>& program, const Matrix<Scalar>& S_before,
                                       const Matrix<Scalar>& U, Recorder* recorder) const = 0;
  virtual Matrix<Scalar> parallel(const Program<Scalar>& program, Matrix<Scalar>& S, Recorder* recorder,
                                  const std::stop_token& stop) const = 0;

  /// Q S: what a finished memory answers. [R, V].
  virtual Matrix<Scalar> read(const Matrix<Scalar>& Q, const Matrix<Scalar>& S) const = 0;

  virtual RowVector<Scalar> softmax_stream(const RowVector<Scalar>& q, const Matrix<Scalar>& K,
                                           const Matrix<Scalar>& V, Recorder* recorder,
                                           const Matrix<Scalar>& bias) const = 0;
  virtual void softmax_tile(const Matrix<Scalar>& Q, const Matrix<Scalar>& K, const Matrix<Scalar>& V,
                            Index first_query, Index first_key, SoftmaxState<Scalar>& state,
                            Recorder* recorder, const Matrix<Scalar>& bias) const = 0;
  /// Y / l: what a finished row of tiles gives.
  virtual Matrix<Scalar> softmax_output(const SoftmaxState<Scalar>& state) const = 0;
  virtual Matrix<Scalar> softmax_dense(const Matrix<Scalar>& Q, const Matrix<Scalar>& K,
                                       const Matrix<Scalar>& V, Index first_query, Recorder* recorder,
                                       const Matrix<Scalar>& bias) const = 0;

  virtual Matrix<Scalar> mamba_recurrent(const MambaRows<Scalar>& rows, Matrix<Scalar>& S,
                                         Recorder* recorder) const = 0;
  virtual Matrix<Scalar> mamba_scan(const MambaRows<Scalar>& rows, Matrix<Scalar>& S, Recorder* recorder,
                                    const std::stop_token& stop) const = 0;

  virtual Matrix<Scalar> network_primal(const InnerNetwork<Scalar>& network, const NetworkRows<Scalar>& token,
                                        Carried<Scalar>& carried, Recorder* recorder) const = 0;
  virtual Matrix<Scalar> network_dual(const InnerNetwork<Scalar>& network, const NetworkRows<Scalar>& rows,
                                      Carried<Scalar>& carried, Recorder* recorder) const = 0;

  virtual void lact_gather(const Matrix<Scalar>& K, const Matrix<Scalar>& R, const Vector<Scalar>& eta,
                           Matrix<Scalar>& G) const = 0;
  virtual void lact_update(const LactUpdate<Scalar>& update, const Matrix<Scalar>& G, Scalar momentum,
                           Matrix<Scalar>& S, Matrix<Scalar>& M, Recorder* recorder) const = 0;
  virtual LactScan<Scalar> lact_scan(const Matrix<Scalar>& K, const Matrix<Scalar>& V,
                                     const Vector<Scalar>& eta, const std::vector<Index>& first,
                                     const Vector<Scalar>& momentum, const std::optional<NewtonSchulz>& muon,
                                     const Matrix<Scalar>& S_0, const Matrix<Scalar>& M_0,
                                     const std::stop_token& stop) const = 0;

  virtual Matrix<Scalar> mesa_recurrent(const MesaRows<Scalar>& rows, MesaState<Scalar>& H,
                                        Recorder* recorder) const = 0;
  virtual Matrix<Scalar> mesa_chunk(const MesaRows<Scalar>& rows, MesaState<Scalar>& H, Recorder* recorder,
                                    const std::stop_token& stop) const = 0;
  virtual Matrix<Scalar> mesa_parallel(const MesaRows<Scalar>& rows, MesaState<Scalar>& H, Recorder* recorder,
                                       const std::stop_token& stop) const = 0;

  virtual Matrix<Scalar> least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Matrix<Scalar>& P,
                                             Recorder* recorder) const = 0;
  virtual Matrix<Scalar> solved_least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Matrix<Scalar>& P,
                                                    const std::stop_token& stop) const = 0;

  /// Run whole heads at once; null where the device has no such kernels and heads go one by one, block by
  /// block, through the functions above.
  virtual const RowHeads<Scalar>* row_heads() const { return nullptr; }
  virtual const SoftmaxHeads<Scalar>* softmax_heads() const { return nullptr; }
  virtual const MambaHeads<Scalar>* mamba_heads() const { return nullptr; }
  virtual const NetworkHeads<Scalar>* network_heads() const { return nullptr; }
  virtual const LactHeads<Scalar>* lact_heads() const { return nullptr; }
  virtual const MesaHeads<Scalar>* mesa_heads() const { return nullptr; }
  virtual const LeastSquaresHeads<Scalar>* least_squares_heads() const { return nullptr; }
};

/// The engines of one device in both precisions.
struct DeviceEngines {
  const Engines<double>& f64;
  const Engines<float>& f32;

  template <class Scalar>
  const Engines<Scalar>& in() const {
    if constexpr (std::is_same_v<Scalar, double>)
      return f64;
    else
      return f32;
  }
};

}  // namespace palimpsest
