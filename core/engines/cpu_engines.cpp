#include "core/engines/engines.h"
#include "core/engines/lact_on_processor.h"
#include "core/engines/row_engines.h"

// The engines of the processor: one head after the other, each as one block.

namespace palimpsest {

namespace {

template <class Scalar>
Matrix<Scalar> compute_block(const EngineRequest& request, const Program<Scalar>& program,
                             Carried<Scalar>& state) {
  Matrix<Scalar>& S = state.front();
  const Index phase = request.phase.value_or(0);
  if (phase == 1 && !program.structure.reads_on_the_way()) return program.q * S;
  if (request.form == Form::recurrent) return recurrent(program, S, request.tap);
  if (request.form == Form::chunkwise) return chunk(program, S, request.tap);
  if (request.form == Form::parallel) return parallel(program, S, request.tap, request.stop);
  return phase == 0 ? chunk_state(program, S, request.tap)
                    : chunk_outputs(program, S, program.v, request.tap);
}

template <class Scalar>
Matrix<Scalar> compute_block(const EngineRequest& request, const LactTokens<Scalar>& tokens,
                             Carried<Scalar>& state) {
  return lact_block(LactOnProcessor<Scalar>(), request, tokens, state);
}

template <template <class> class Operator, class Scalar>
class CpuEngine : public Engine<Operator, Scalar> {
  std::vector<Matrix<Scalar>> compute(const EngineRequest& request, std::span<const Operator<Scalar>> heads,
                                      std::span<Carried<Scalar>> states) const override {
    std::vector<Matrix<Scalar>> o;
    for (std::size_t h = 0; h < heads.size(); ++h) o.push_back(compute_block(request, heads[h], states[h]));
    return o;
  }
};

template <class Scalar>
Engines<Scalar> engines() {
  static const CpuEngine<Program, Scalar> rows;
  static const CpuEngine<CachedQueries, Scalar> softmax;
  static const CpuEngine<MambaRows, Scalar> mamba;
  static const CpuEngine<NetworkRows, Scalar> network;
  static const CpuEngine<LactTokens, Scalar> lact;
  static const CpuEngine<MesaRows, Scalar> mesa;
  static const CpuEngine<LeastSquaresKeys, Scalar> least_squares;
  return {rows, softmax, mamba, network, lact, mesa, least_squares};
}

}  // namespace

const DeviceEngines& cpu_engines() {
  static const DeviceEngines all = {engines<double>(), engines<float>()};
  return all;
}

const char* name(KernelKind kernel) {
  static constexpr const char* names[] = {"plain kernel", "vector instructions", "in registers",
                                          "tensor cores"};
  return entry(names, kernel);
}

// All fields by name: adding one to Structure fails to compile here, until the kernels are considered.

/// Whether rows of this structure are simple enough for any fast kernel.
static bool fit_fast_kernels(const Structure& structure) {
  const auto& [decay, gates_are_logs, value_decay, erase, erase_key, beta, writes_value, decay_by_key,
               plain_write, read_at, rows_per_read, parts] = structure;
  return !value_decay && erase != Erase::undecayed && !erase_key && writes_value && !plain_write &&
         read_at != ReadAt::end && rows_per_read == 1 && parts.empty();
}

bool fit_tensor_cores(const Structure& structure, Index K) {
  return K <= most_tensor_core_channels && fit_fast_kernels(structure);
}

bool fits_tensor_cores(Index K, Index V, bool fades) {
  return K <= most_tensor_core_channels && V <= most_tensor_core_channels && !fades;
}

bool fit_vectors(const Structure& structure) {
  const auto& [decay, gates_are_logs, value_decay, erase, erase_key, beta, writes_value, decay_by_key,
               plain_write, read_at, rows_per_read, parts] = structure;
  return !value_decay && read_at != ReadAt::end && parts.empty();
}

bool fit_registers(const Structure& structure, Index K) {
  return K <= most_register_channels(structure.decay == Decay::key) &&
         structure.read_at == ReadAt::after_row && fit_fast_kernels(structure);
}

template struct LactOnProcessor<double>;
template struct LactOnProcessor<float>;

}  // namespace palimpsest
