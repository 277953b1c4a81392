#include "kernels/cuda/cuda_engines.h"

#include "kernels/cuda/lact_engines.h"
#include "kernels/cuda/least_squares_engines.h"
#include "kernels/cuda/mamba_engines.h"
#include "kernels/cuda/mesa_engines.h"
#include "kernels/cuda/network_engines.h"
#include "kernels/cuda/products.h"
#include "kernels/cuda/row_engines.h"
#include "kernels/cuda/softmax_engines.h"

namespace palimpsest {

namespace {

using cuda::Rounding;

/// Whole heads by `kernels`, which take what Heads::run() takes, and how rows are rounded.
template <class Heads, auto kernels, class Signature = decltype(&Heads::run)>
class CudaHeads;

template <class Heads, auto kernels, class Outputs, class... Given>
class CudaHeads<Heads, kernels, Outputs (Heads::*)(Given...) const> : public Heads {
 public:
  explicit CudaHeads(Rounding rounding) : rounding_(rounding) {}

  Outputs run(Given... given) const override { return kernels(given..., rounding_); }

 protected:
  Rounding rounding_;
};

template <class Scalar>
class CudaRowHeads : public CudaHeads<RowHeads<Scalar>, &cuda::run_rows<Scalar>> {
 public:
  using CudaHeads<RowHeads<Scalar>, &cuda::run_rows<Scalar>>::CudaHeads;

  double most_bytes() const override { return cuda::most_bytes_of_rows(); }

  std::string fused(Form form, const Structure& structure, Index K) const override {
    return cuda::fused_rows<Scalar>(form, structure, K, this->rounding_);
  }
};

template <class Scalar>
class CudaSoftmaxHeads : public CudaHeads<SoftmaxHeads<Scalar>, &cuda::run_softmax<Scalar>> {
 public:
  using CudaHeads<SoftmaxHeads<Scalar>, &cuda::run_softmax<Scalar>>::CudaHeads;

  std::string fused(Form form, Index K, Index V, bool fades) const override {
    return cuda::fused_softmax<Scalar>(form, K, V, fades, this->rounding_);
  }
};

template <class Scalar>
class CudaEngines : public Engines<Scalar> {
 public:
  using Rows = Matrix<Scalar>;

  explicit CudaEngines(Rounding rounding) : rounding_(rounding) {}

  Rows recurrent(const Program<Scalar>& program, Rows& S, Recorder* recorder) const override {
    return cuda::recurrent(program, S, recorder, rounding_);
  }
  Rows chunk(const Program<Scalar>& program, Rows& S, Recorder* recorder) const override {
    return cuda::chunk(program, S, recorder, rounding_);
  }
  Rows chunk_state(const Program<Scalar>& program, Rows& S, Recorder* recorder) const override {
    return cuda::chunk_state(program, S, recorder, rounding_);
  }
  Rows chunk_outputs(const Program<Scalar>& program, const Rows& S_before, const Rows& U,
                     Recorder* recorder) const override {
    return cuda::chunk_outputs(program, S_before, U, recorder, rounding_);
  }
  Rows parallel(const Program<Scalar>& program, Rows& S, Recorder* recorder,
                const std::stop_token&) const override {
    return cuda::parallel(program, S, recorder, rounding_);
  }
  const RowHeads<Scalar>* row_heads() const override { return &row_heads_; }

  Rows read(const Rows& Q, const Rows& S) const override { return cuda::read(Q, S, rounding_); }

  RowVector<Scalar> softmax_stream(const RowVector<Scalar>& q, const Rows& K, const Rows& V,
                                   Recorder* recorder, const Rows& bias) const override {
    return cuda::softmax_stream(q, K, V, recorder, bias, rounding_);
  }
  void softmax_tile(const Rows& Q, const Rows& K, const Rows& V, Index first_query, Index first_key,
                    SoftmaxState<Scalar>& state, Recorder* recorder, const Rows& bias) const override {
    cuda::softmax_tile(Q, K, V, first_query, first_key, state, recorder, bias, rounding_);
  }
  Rows softmax_output(const SoftmaxState<Scalar>& state) const override {
    return cuda::softmax_output(state, rounding_);
  }
  Rows softmax_dense(const Rows& Q, const Rows& K, const Rows& V, Index first_query, Recorder* recorder,
                     const Rows& bias) const override {
    return cuda::softmax_dense(Q, K, V, first_query, recorder, bias, rounding_);
  }
  const SoftmaxHeads<Scalar>* softmax_heads() const override { return &softmax_heads_; }

  Rows mamba_recurrent(const MambaRows<Scalar>& rows, Rows& S, Recorder* recorder) const override {
    return cuda::mamba_recurrent(rows, S, recorder, rounding_);
  }
  Rows mamba_scan(const MambaRows<Scalar>& rows, Rows& S, Recorder* recorder,
                  const std::stop_token& stop) const override {
    return cuda::mamba_scan(rows, S, recorder, stop, rounding_);
  }
  const MambaHeads<Scalar>* mamba_heads() const override { return &mamba_heads_; }

  Rows network_primal(const InnerNetwork<Scalar>& network, const NetworkRows<Scalar>& token,
                      Carried<Scalar>& carried, Recorder* recorder) const override {
    return cuda::network_primal(network, token, carried, recorder, rounding_);
  }
  Rows network_dual(const InnerNetwork<Scalar>& network, const NetworkRows<Scalar>& rows,
                    Carried<Scalar>& carried, Recorder* recorder) const override {
    return cuda::network_dual(network, rows, carried, recorder, rounding_);
  }
  const NetworkHeads<Scalar>* network_heads() const override { return &network_heads_; }

  void lact_gather(const Rows& K, const Rows& R, const Vector<Scalar>& eta, Rows& G) const override {
    cuda::lact_gather(K, R, eta, G, rounding_);
  }
  void lact_update(const LactUpdate<Scalar>& update, const Rows& G, Scalar momentum, Rows& S, Rows& M,
                   Recorder* recorder) const override {
    cuda::lact_update(update, G, momentum, S, M, recorder);
  }
  LactScan<Scalar> lact_scan(const Rows& K, const Rows& V, const Vector<Scalar>& eta,
                             const std::vector<Index>& first, const Vector<Scalar>& momentum,
                             const std::optional<NewtonSchulz>& muon, const Rows& S_0, const Rows& M_0,
                             const std::stop_token& stop) const override {
    return cuda::lact_scan(K, V, eta, first, momentum, muon, S_0, M_0, stop, rounding_);
  }
  const LactHeads<Scalar>* lact_heads() const override { return &lact_heads_; }

  Rows mesa_recurrent(const MesaRows<Scalar>& rows, MesaState<Scalar>& H, Recorder* recorder) const override {
    return cuda::mesa_recurrent(rows, H, recorder, rounding_);
  }
  Rows mesa_chunk(const MesaRows<Scalar>& rows, MesaState<Scalar>& H, Recorder* recorder,
                  const std::stop_token& stop) const override {
    return cuda::mesa_chunk(rows, H, recorder, stop, rounding_);
  }
  Rows mesa_parallel(const MesaRows<Scalar>& rows, MesaState<Scalar>& H, Recorder* recorder,
                     const std::stop_token& stop) const override {
    return cuda::mesa_parallel(rows, H, recorder, stop, rounding_);
  }
  const MesaHeads<Scalar>* mesa_heads() const override { return &mesa_heads_; }

  Rows least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Rows& P, Recorder* recorder) const override {
    return cuda::least_squares_gains(keys, P, recorder, rounding_);
  }
  Rows solved_least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Rows& P,
                                  const std::stop_token& stop) const override {
    return cuda::solved_least_squares_gains(keys, P, stop, rounding_);
  }
  const LeastSquaresHeads<Scalar>* least_squares_heads() const override { return &least_squares_heads_; }

 private:
  Rounding rounding_;
  CudaRowHeads<Scalar> row_heads_{rounding_};
  CudaSoftmaxHeads<Scalar> softmax_heads_{rounding_};
  CudaHeads<MambaHeads<Scalar>, &cuda::run_mamba<Scalar>> mamba_heads_{rounding_};
  CudaHeads<NetworkHeads<Scalar>, &cuda::run_networks<Scalar>> network_heads_{rounding_};
  CudaHeads<LactHeads<Scalar>, &cuda::run_lact<Scalar>> lact_heads_{rounding_};
  CudaHeads<MesaHeads<Scalar>, &cuda::run_mesa<Scalar>> mesa_heads_{rounding_};
  CudaHeads<LeastSquaresHeads<Scalar>, &cuda::run_gains<Scalar>> least_squares_heads_{rounding_};
};

}  // namespace

const DeviceEngines& cuda_engines(Precision precision) {
  static const CudaEngines<double> f64(Rounding::none);
  static const CudaEngines<float> f32(Rounding::none);
  static const CudaEngines<float> tf32(Rounding::tf32);
  static const CudaEngines<float> bf16(Rounding::bf16);
  static const DeviceEngines as_given = {f64, f32};
  static const DeviceEngines in_tf32 = {f64, tf32};
  static const DeviceEngines in_bf16 = {f64, bf16};
  if (precision == Precision::tf32) return in_tf32;
  return precision == Precision::bf16 ? in_bf16 : as_given;
}

}  // namespace palimpsest
