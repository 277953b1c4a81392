#pragma once

#include <optional>
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
#include "core/engines/whole_heads.h"
#include "core/operator/program.h"

namespace palimpsest {

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

/// The engines of one device, by what holds the numbers: those in f32 are for bf16 and tf32 too.
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
