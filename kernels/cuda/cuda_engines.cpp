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

template <class Scalar>
class CudaRowHeads : public RowHeads<Scalar> {
 public:
  std::vector<Matrix<Scalar>> run(Form form, std::span<const Program<Scalar>> heads, Index chunk_size,
                                  std::span<Matrix<Scalar>> states,
                                  const std::stop_token& stop) const override {
    return cuda::run_rows(form, heads, chunk_size, states, stop);
  }
};

template <class Scalar>
class CudaSoftmaxHeads : public SoftmaxHeads<Scalar> {
 public:
  std::vector<Matrix<Scalar>> run(Form form, std::span<const CachedQueries<Scalar>> heads, Index chunk_size,
                                  const std::stop_token& stop) const override {
    return cuda::run_softmax(form, heads, chunk_size, stop);
  }
};

template <class Scalar>
class CudaMambaHeads : public MambaHeads<Scalar> {
 public:
  std::vector<Matrix<Scalar>> run(Form form, std::span<const MambaRows<Scalar>> heads, Index chunk_size,
                                  std::span<Matrix<Scalar>> states,
                                  const std::stop_token& stop) const override {
    return cuda::run_mamba(form, heads, chunk_size, states, stop);
  }
};

template <class Scalar>
class CudaNetworkHeads : public NetworkHeads<Scalar> {
 public:
  std::vector<Matrix<Scalar>> run(Form form, std::span<const InnerNetwork<Scalar>> networks,
                                  std::span<const NetworkRows<Scalar>> heads, const InnerBatches& pieces,
                                  std::span<Carried<Scalar>> carried,
                                  const std::stop_token& stop) const override {
    return cuda::run_networks(form, networks, heads, pieces, carried, stop);
  }
};

template <class Scalar>
class CudaLactHeads : public LactHeads<Scalar> {
 public:
  std::vector<Matrix<Scalar>> run(const LactWay& way, std::span<const LactHead<Scalar>> heads,
                                  std::span<Matrix<Scalar>> S, std::span<Matrix<Scalar>> M,
                                  const std::stop_token& stop) const override {
    return cuda::run_lact(way, heads, S, M, stop);
  }
};

template <class Scalar>
class CudaMesaHeads : public MesaHeads<Scalar> {
 public:
  std::vector<Matrix<Scalar>> run(Form form, std::span<const MesaRows<Scalar>> heads, Index chunk_size,
                                  std::span<MesaState<Scalar>> states,
                                  const std::stop_token& stop) const override {
    return cuda::run_mesa(form, heads, chunk_size, states, stop);
  }
};

template <class Scalar>
class CudaLeastSquaresHeads : public LeastSquaresHeads<Scalar> {
 public:
  std::vector<Matrix<Scalar>> gains(std::span<const LeastSquaresKeys<Scalar>> heads, bool solved,
                                    std::span<Matrix<Scalar>> P, const std::stop_token& stop) const override {
    return cuda::run_gains(heads, solved, P, stop);
  }
};

template <class Scalar>
class CudaEngines : public Engines<Scalar> {
 public:
  using Rows = Matrix<Scalar>;

  Rows recurrent(const Program<Scalar>& program, Rows& S, Recorder* recorder) const override {
    return cuda::recurrent(program, S, recorder);
  }
  Rows chunk(const Program<Scalar>& program, Rows& S, Recorder* recorder) const override {
    return cuda::chunk(program, S, recorder);
  }
  Rows chunk_state(const Program<Scalar>& program, Rows& S, Recorder* recorder) const override {
    return cuda::chunk_state(program, S, recorder);
  }
  Rows chunk_outputs(const Program<Scalar>& program, const Rows& S_before, const Rows& U,
                     Recorder* recorder) const override {
    return cuda::chunk_outputs(program, S_before, U, recorder);
  }
  Rows parallel(const Program<Scalar>& program, Rows& S, Recorder* recorder,
                const std::stop_token&) const override {
    return cuda::parallel(program, S, recorder);
  }
  const RowHeads<Scalar>* row_heads() const override { return &row_heads_; }

  Rows read(const Rows& Q, const Rows& S) const override { return cuda::read(Q, S); }

  RowVector<Scalar> softmax_stream(const RowVector<Scalar>& q, const Rows& K, const Rows& V,
                                   Recorder* recorder, const Rows& bias) const override {
    return cuda::softmax_stream(q, K, V, recorder, bias);
  }
  void softmax_tile(const Rows& Q, const Rows& K, const Rows& V, Index first_query, Index first_key,
                    SoftmaxState<Scalar>& state, Recorder* recorder, const Rows& bias) const override {
    cuda::softmax_tile(Q, K, V, first_query, first_key, state, recorder, bias);
  }
  Rows softmax_output(const SoftmaxState<Scalar>& state) const override {
    return cuda::softmax_output(state);
  }
  Rows softmax_dense(const Rows& Q, const Rows& K, const Rows& V, Index first_query, Recorder* recorder,
                     const Rows& bias) const override {
    return cuda::softmax_dense(Q, K, V, first_query, recorder, bias);
  }
  const SoftmaxHeads<Scalar>* softmax_heads() const override { return &softmax_heads_; }

  Rows mamba_recurrent(const MambaRows<Scalar>& rows, Rows& S, Recorder* recorder) const override {
    return cuda::mamba_recurrent(rows, S, recorder);
  }
  Rows mamba_scan(const MambaRows<Scalar>& rows, Rows& S, Recorder* recorder,
                  const std::stop_token& stop) const override {
    return cuda::mamba_scan(rows, S, recorder, stop);
  }
  const MambaHeads<Scalar>* mamba_heads() const override { return &mamba_heads_; }

  Rows network_primal(const InnerNetwork<Scalar>& network, const NetworkRows<Scalar>& token,
                      Carried<Scalar>& carried, Recorder* recorder) const override {
    return cuda::network_primal(network, token, carried, recorder);
  }
  Rows network_dual(const InnerNetwork<Scalar>& network, const NetworkRows<Scalar>& rows,
                    Carried<Scalar>& carried, Recorder* recorder) const override {
    return cuda::network_dual(network, rows, carried, recorder);
  }
  const NetworkHeads<Scalar>* network_heads() const override { return &network_heads_; }

  void lact_gather(const Rows& K, const Rows& R, const Vector<Scalar>& eta, Rows& G) const override {
    cuda::lact_gather(K, R, eta, G);
  }
  void lact_update(const LactUpdate<Scalar>& update, const Rows& G, Scalar momentum, Rows& S, Rows& M,
                   Recorder* recorder) const override {
    cuda::lact_update(update, G, momentum, S, M, recorder);
  }
  LactScan<Scalar> lact_scan(const Rows& K, const Rows& V, const Vector<Scalar>& eta,
                             const std::vector<Index>& first, const Vector<Scalar>& momentum,
                             const std::optional<NewtonSchulz>& muon, const Rows& S_0, const Rows& M_0,
                             const std::stop_token& stop) const override {
    return cuda::lact_scan(K, V, eta, first, momentum, muon, S_0, M_0, stop);
  }
  const LactHeads<Scalar>* lact_heads() const override { return &lact_heads_; }

  Rows mesa_recurrent(const MesaRows<Scalar>& rows, MesaState<Scalar>& H, Recorder* recorder) const override {
    return cuda::mesa_recurrent(rows, H, recorder);
  }
  Rows mesa_chunk(const MesaRows<Scalar>& rows, MesaState<Scalar>& H, Recorder* recorder,
                  const std::stop_token& stop) const override {
    return cuda::mesa_chunk(rows, H, recorder, stop);
  }
  Rows mesa_parallel(const MesaRows<Scalar>& rows, MesaState<Scalar>& H, Recorder* recorder,
                     const std::stop_token& stop) const override {
    return cuda::mesa_parallel(rows, H, recorder, stop);
  }
  const MesaHeads<Scalar>* mesa_heads() const override { return &mesa_heads_; }

  Rows least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Rows& P, Recorder* recorder) const override {
    return cuda::least_squares_gains(keys, P, recorder);
  }
  Rows solved_least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Rows& P,
                                  const std::stop_token& stop) const override {
    return cuda::solved_least_squares_gains(keys, P, stop);
  }
  const LeastSquaresHeads<Scalar>* least_squares_heads() const override { return &least_squares_heads_; }

 private:
  CudaRowHeads<Scalar> row_heads_;
  CudaSoftmaxHeads<Scalar> softmax_heads_;
  CudaMambaHeads<Scalar> mamba_heads_;
  CudaNetworkHeads<Scalar> network_heads_;
  CudaLactHeads<Scalar> lact_heads_;
  CudaMesaHeads<Scalar> mesa_heads_;
  CudaLeastSquaresHeads<Scalar> least_squares_heads_;
};

}  // namespace

const DeviceEngines& cuda_engines() {
  static const CudaEngines<double> f64;
  static const CudaEngines<float> f32;
  static const DeviceEngines engines = {f64, f32};
  return engines;
}

}  // namespace palimpsest
