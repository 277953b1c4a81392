#include <algorithm>

#include "core/base/error.h"
#include "core/engines/engines.h"
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
  switch (request.form) {
    case Form::recurrent:
      return recurrent(program, S, request.tap);
    case Form::chunkwise:
      return chunk(program, S, request.tap);
    case Form::two_pass:
      return phase == 0 ? chunk_state(program, S, request.tap)
                        : chunk_outputs(program, S, program.v, request.tap);
    case Form::parallel:
      break;
  }
  return parallel(program, S, request.tap, request.stop);
}

/// Queries of some chunks, one tile of keys after the other; a tap receives those of the last one.
template <class Scalar>
Matrix<Scalar> softmax_chunks(const EngineRequest& request, const CachedQueries<Scalar>& given) {
  const Index T = given.Q.rows();
  const Index V = given.V.cols();
  Matrix<Scalar> o(T, V);
  for (Index first = 0; first < T; first += request.chunk_size) {
    stop_if_asked(request.stop);
    const Index count = std::min(request.chunk_size, T - first);
    const Index keys = std::min(given.first_query + first + count, given.K.rows());
    const Matrix<Scalar> bias = given.bias(first, count);
    SoftmaxState<Scalar> state(count, V);
    for (Index first_key = 0; first_key < keys; first_key += request.chunk_size) {
      const Index key_count = std::min(request.chunk_size, keys - first_key);
      const bool is_last = first_key + key_count == keys;
      softmax_tile(Matrix<Scalar>(given.Q.middleRows(first, count)),
                   Matrix<Scalar>(given.K.middleRows(first_key, key_count)),
                   Matrix<Scalar>(given.V.middleRows(first_key, key_count)), given.first_query + first,
                   first_key, state, is_last ? request.tap : nullptr,
                   bias.size() == 0 ? bias : Matrix<Scalar>(bias.middleCols(first_key, key_count)));
    }
    o.middleRows(first, count) = state.output();
  }
  return o;
}

template <class Scalar>
Matrix<Scalar> compute_block(const EngineRequest& request, const CachedQueries<Scalar>& given,
                             Carried<Scalar>&) {
  const Index T = given.Q.rows();
  if (request.form == Form::parallel)
    return softmax_dense(given.Q, given.K, given.V, given.first_query, request.tap, given.bias(0, T));
  if (request.form == Form::chunkwise) return softmax_chunks(request, given);
  Matrix<Scalar> o(T, given.V.cols());
  for (Index t = 0; t < T; ++t) {
    stop_if_asked(request.stop);
    const Index seen = given.first_query + t + 1;
    o.row(t) = softmax_stream(RowVector<Scalar>(given.Q.row(t)), Matrix<Scalar>(given.K.topRows(seen)),
                              Matrix<Scalar>(given.V.topRows(seen)), request.tap, given.bias(t, 1));
  }
  return o;
}

template <class Scalar>
Matrix<Scalar> compute_block(const EngineRequest& request, const MambaRows<Scalar>& rows,
                             Carried<Scalar>& state) {
  if (request.form == Form::recurrent) return mamba_recurrent(rows, state.front(), request.tap);
  return mamba_scan(rows, state.front(), request.tap, request.stop);
}

template <class Scalar>
Matrix<Scalar> compute_block(const EngineRequest& request, const NetworkRows<Scalar>& rows,
                             Carried<Scalar>& state) {
  return request.form == Form::recurrent ? rows.network->primal(rows, state, request.tap)
                                         : rows.network->dual(rows, state, request.tap);
}

template <class Scalar>
struct LactOnProcessor {
  Matrix<Scalar> read(const Matrix<Scalar>& Q, const Matrix<Scalar>& S) const { return Q * S; }
  void gather(const Matrix<Scalar>& K, const Matrix<Scalar>& R, const Vector<Scalar>& eta,
              Matrix<Scalar>& G) const {
    lact_gather(K, R, eta, G);
  }
  void update(const LactUpdate<Scalar>& update, const Matrix<Scalar>& G, Scalar momentum, Matrix<Scalar>& S,
              Matrix<Scalar>& M, Recorder* tap) const {
    lact_update(update, G, momentum, S, M, tap);
  }
  LactScan<Scalar> scan(const LactTokens<Scalar>& tokens, const std::vector<Index>& first,
                        const Matrix<Scalar>& S, const Matrix<Scalar>& M, const std::stop_token& stop) const {
    return lact_scan(tokens, first, S, M, stop);
  }
};

template <class Scalar>
Matrix<Scalar> compute_block(const EngineRequest& request, const LactTokens<Scalar>& tokens,
                             Carried<Scalar>& state) {
  return lact_block(LactOnProcessor<Scalar>(), request, tokens, state);
}

template <class Scalar>
Matrix<Scalar> compute_block(const EngineRequest& request, const MesaRows<Scalar>& rows,
                             Carried<Scalar>& state) {
  if (request.form == Form::recurrent) return mesa_recurrent(rows, state.front(), request.tap);
  if (request.form == Form::chunkwise) return mesa_chunk(rows, state.front(), request.tap, request.stop);
  return mesa_parallel(rows, state.front(), request.tap, request.stop);
}

template <class Scalar>
Matrix<Scalar> compute_block(const EngineRequest& request, const LeastSquaresKeys<Scalar>& keys,
                             Carried<Scalar>& state) {
  if (request.form == Form::parallel) return solved_least_squares_gains(keys, state.front(), request.stop);
  return least_squares_gains(keys, state.front(), request.tap);
}

template <template <class> class Operator, class Scalar>
class CpuEngine : public Engine<Operator, Scalar> {
  HeadsTaken<Scalar> compute(const EngineRequest& request, std::span<const Operator<Scalar>> heads,
                             std::span<Carried<Scalar>> states) const override {
    HeadsTaken<Scalar> taken;
    for (std::size_t h = 0; h < heads.size(); ++h)
      taken.o.push_back(compute_block(request, heads[h], states[h]));
    return taken;
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
  switch (kernel) {
    case KernelKind::plain:
      return "plain kernel";
    case KernelKind::registers:
      return "in registers";
    case KernelKind::tensor_cores:
      break;
  }
  return "tensor cores";
}

// All fields by name: whoever adds one to Structure is asked here whether the kernels know it.

bool fit_tensor_cores(const Structure& structure, Index K) {
  const auto& [decay, gates_are_logs, value_decay, erase, erase_key, beta, writes_value, decay_by_key,
               plain_write, read_at, rows_per_read, parts] = structure;
  return K <= most_tensor_core_channels && !value_decay && erase != Erase::undecayed && !erase_key &&
         writes_value && !plain_write && read_at != ReadAt::end && rows_per_read == 1 && parts.empty();
}

bool fits_tensor_cores(Index K, Index V, bool fades) {
  return K <= most_tensor_core_channels && V <= most_tensor_core_channels && !fades;
}

bool fit_registers(const Structure& structure, Index K) {
  const auto& [decay, gates_are_logs, value_decay, erase, erase_key, beta, writes_value, decay_by_key,
               plain_write, read_at, rows_per_read, parts] = structure;
  return K <= most_register_channels && decay != Decay::key && !value_decay && erase != Erase::undecayed &&
         !erase_key && writes_value && !plain_write && read_at == ReadAt::after_row && rows_per_read == 1 &&
         parts.empty();
}

}  // namespace palimpsest
