#include "core/engines/chunkwise.h"
#include "core/engines/engines.h"
#include "core/engines/parallel.h"
#include "core/engines/recurrent.h"

namespace palimpsest {

namespace {

template <class Scalar>
class CpuEngines : public Engines<Scalar> {
 public:
  using Rows = Matrix<Scalar>;

  Rows recurrent(const Program<Scalar>& program, Rows& S, Recorder* recorder) const override {
    return palimpsest::recurrent(program, S, recorder);
  }
  Rows chunk(const Program<Scalar>& program, Rows& S, Recorder* recorder) const override {
    return palimpsest::chunk(program, S, recorder);
  }
  Rows chunk_state(const Program<Scalar>& program, Rows& S, Recorder* recorder) const override {
    return palimpsest::chunk_state(program, S, recorder);
  }
  Rows chunk_outputs(const Program<Scalar>& program, const Rows& S_before, const Rows& U,
                     Recorder* recorder) const override {
    return palimpsest::chunk_outputs(program, S_before, U, recorder);
  }
  Rows parallel(const Program<Scalar>& program, Rows& S, Recorder* recorder,
                const std::stop_token& stop) const override {
    return palimpsest::parallel(program, S, recorder, stop);
  }

  Rows read(const Rows& Q, const Rows& S) const override { return Q * S; }

  RowVector<Scalar> softmax_stream(const RowVector<Scalar>& q, const Rows& K, const Rows& V,
                                   Recorder* recorder, const Rows& bias) const override {
    return palimpsest::softmax_stream(q, K, V, recorder, bias);
  }
  void softmax_tile(const Rows& Q, const Rows& K, const Rows& V, Index first_query, Index first_key,
                    SoftmaxState<Scalar>& state, Recorder* recorder, const Rows& bias) const override {
    palimpsest::softmax_tile(Q, K, V, first_query, first_key, state, recorder, bias);
  }
  Rows softmax_output(const SoftmaxState<Scalar>& state) const override { return state.output(); }
  Rows softmax_dense(const Rows& Q, const Rows& K, const Rows& V, Index first_query, Recorder* recorder,
                     const Rows& bias) const override {
    return palimpsest::softmax_dense(Q, K, V, first_query, recorder, bias);
  }

  Rows mamba_recurrent(const MambaRows<Scalar>& rows, Rows& S, Recorder* recorder) const override {
    return palimpsest::mamba_recurrent(rows, S, recorder);
  }
  Rows mamba_scan(const MambaRows<Scalar>& rows, Rows& S, Recorder* recorder,
                  const std::stop_token& stop) const override {
    return palimpsest::mamba_scan(rows, S, recorder, stop);
  }

  Rows network_primal(const InnerNetwork<Scalar>& network, const NetworkRows<Scalar>& token,
                      Carried<Scalar>& carried, Recorder* recorder) const override {
    return network.primal(token, carried, recorder);
  }
  Rows network_dual(const InnerNetwork<Scalar>& network, const NetworkRows<Scalar>& rows,
                    Carried<Scalar>& carried, Recorder* recorder) const override {
    return network.dual(rows, carried, recorder);
  }

  void lact_gather(const Rows& K, const Rows& R, const Vector<Scalar>& eta, Rows& G) const override {
    palimpsest::lact_gather(K, R, eta, G);
  }
  void lact_update(const LactUpdate<Scalar>& update, const Rows& G, Scalar momentum, Rows& S, Rows& M,
                   Recorder* recorder) const override {
    palimpsest::lact_update(update, G, momentum, S, M, recorder);
  }
  LactScan<Scalar> lact_scan(const Rows& K, const Rows& V, const Vector<Scalar>& eta,
                             const std::vector<Index>& first, const Vector<Scalar>& momentum,
                             const std::optional<NewtonSchulz>& muon, const Rows& S_0, const Rows& M_0,
                             const std::stop_token& stop) const override {
    return palimpsest::lact_scan(K, V, eta, first, momentum, muon, S_0, M_0, stop);
  }

  Rows mesa_recurrent(const MesaRows<Scalar>& rows, MesaState<Scalar>& H, Recorder* recorder) const override {
    return palimpsest::mesa_recurrent(rows, H, recorder);
  }
  Rows mesa_chunk(const MesaRows<Scalar>& rows, MesaState<Scalar>& H, Recorder* recorder,
                  const std::stop_token& stop) const override {
    return palimpsest::mesa_chunk(rows, H, recorder, stop);
  }
  Rows mesa_parallel(const MesaRows<Scalar>& rows, MesaState<Scalar>& H, Recorder* recorder,
                     const std::stop_token& stop) const override {
    return palimpsest::mesa_parallel(rows, H, recorder, stop);
  }

  Rows least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Rows& P, Recorder* recorder) const override {
    return palimpsest::least_squares_gains(keys, P, recorder);
  }
  Rows solved_least_squares_gains(const LeastSquaresKeys<Scalar>& keys, Rows& P,
                                  const std::stop_token& stop) const override {
    return palimpsest::solved_least_squares_gains(keys, P, stop);
  }
};

}  // namespace

const DeviceEngines& cpu_engines() {
  static const CpuEngines<double> f64;
  static const CpuEngines<float> f32;
  static const DeviceEngines engines = {f64, f32};
  return engines;
}

}  // namespace palimpsest
