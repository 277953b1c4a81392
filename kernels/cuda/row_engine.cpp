#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/engines/chunk_decays.h"
#include "core/engines/fast_kernels.h"
#include "kernels/cuda/engine.h"
#include "kernels/cuda/engines.h"
#include "kernels/cuda/hopper/tensor_rows.h"
#include "kernels/cuda/row_kernels.h"
#include "kernels/cuda/tensor_float/tensor_float_rows.h"

namespace palimpsest::cuda {

namespace {

/// How gates lie on the device.
enum class Gates { as_given, as_alpha };

/// Times of readers on the device.
class DeviceTimes {
 public:
  DeviceTimes() = default;
  explicit DeviceTimes(const std::vector<Reader>& readers)
      : decays_(readers.size()), writes_(readers.size()) {
    std::vector<std::int64_t> decays;
    std::vector<std::int64_t> writes;
    for (const Reader& reader : readers) {
      if (!decays.empty() && reader.decays < decays.back())
        throw Error("a reader reads before the one in front of it; the CUDA kernels need them in order");
      decays.push_back(reader.decays);
      writes.push_back(reader.writes);
    }
    decays_.upload(decays.data(), decays.size());
    writes_.upload(writes.data(), writes.size());
  }

  ReaderTimes view() const { return {decays_.data(), writes_.data()}; }

 private:
  DeviceArray<std::int64_t> decays_;
  DeviceArray<std::int64_t> writes_;
};

/// The programs of all heads, uploaded once, with their states and room for what they read.
template <class Scalar>
class RowsOnDevice {
 public:
  /// `reads`: whether there are any; a program that reads the final state may leave them to others.
  RowsOnDevice(std::span<const Program<Scalar>> heads, std::span<const Carried<Scalar>> states, bool reads,
               Gates gates, Rounding rounding)
      : structure_(heads.front().structure), rounding_(rounding) {
    const Program<Scalar>& first = heads.front();
    const auto count = static_cast<Index>(heads.size());
    const auto upload_if = [&](bool has, DeviceMatrices<Scalar>& to, auto of) {
      if (has) to = DeviceMatrices<Scalar>::of_heads(heads, of);
      return to.view();
    };
    using P = Program<Scalar>;
    const bool has_parts = !structure_.parts.empty();
    programs_.heads = count;
    programs_.T = first.rows();
    programs_.K = first.k.cols();
    programs_.V = first.v.cols();
    programs_.R = reads ? first.reads() : 0;
    programs_.rows_per_read = structure_.rows_per_read;
    programs_.reads_first = structure_.read_at == ReadAt::before_row;
    programs_.parts = structure_.part_count();
    programs_.has_parts = has_parts;
    programs_.erase = structure_.erase != Erase::none;
    programs_.erases_undecayed = structure_.erase == Erase::undecayed;
    programs_.writes_value = structure_.writes_value;
    programs_.decays_by_channel = structure_.decay == Decay::key;
    programs_.gates_are_logs = gates == Gates::as_given && structure_.gates_are_logs;
    programs_.q = upload_if(true, q_, &P::q);
    programs_.k = upload_if(true, k_, &P::k);
    programs_.v = upload_if(true, v_, &P::v);
    programs_.a = structure_.erase_key ? upload_if(true, a_, &P::a) : programs_.k;
    const bool decays = structure_.decay != Decay::none;
    programs_.alpha =
        gates == Gates::as_given ? upload_if(decays, gate_, &P::gate) : upload_if(decays, gate_, &P::alpha);
    programs_.beta = upload_if(structure_.beta, beta_, &P::beta);
    programs_.mu = upload_if(structure_.value_decay, mu_, &P::mu);
    programs_.k_plain = upload_if(structure_.plain_write, k_plain_, &P::k_plain);
    programs_.v_plain = upload_if(structure_.plain_write, v_plain_, &P::v_plain);
    programs_.transition = upload_if(has_parts, transition_, &P::transition);
    programs_.inject = upload_if(has_parts, inject_, &P::inject);
    programs_.erase_sight = upload_if(has_parts && programs_.erase, erase_sight_, &P::erase_sight);
    programs_.read_sight = upload_if(has_parts, read_sight_, &P::read_sight);
    for (DeviceMatrices<Scalar>* const rows : {&q_, &k_, &v_, &a_, &k_plain_, &v_plain_})
      rows->round(rounding);
    erases_ = DeviceTimes(first.erase_readers());
    reads_ = DeviceTimes(first.output_readers());
    programs_.erases = erases_.view();
    programs_.reads = reads_.view();
    S_ = upload_part(states, 0);
    programs_.initial_state = S_.data();
    programs_.final_state = S_.data();
    o_ = DeviceMatrices<Scalar>(count, programs_.R, programs_.V);
    programs_.o = o_.template view<Scalar>();
  }

  const RowPrograms<Scalar>& programs() const { return programs_; }
  const Structure& structure() const { return structure_; }
  DeviceMatrices<Scalar>& S() { return S_; }

  /// What every head read.
  std::vector<Matrix<Scalar>> outputs() {
    o_.round(rounding_);
    return o_.download();
  }
  Matrix<Scalar> output() { return std::move(outputs().front()); }

  const DeviceMatrices<Scalar>& read_sight() const { return read_sight_; }

 private:
  Structure structure_;
  Rounding rounding_;
  RowPrograms<Scalar> programs_;
  DeviceMatrices<Scalar> q_, k_, v_, a_, gate_, beta_, mu_, k_plain_, v_plain_, transition_, inject_,
      erase_sight_, read_sight_, S_, o_;
  DeviceTimes erases_, reads_;
};

/// The tables of some chunks on the device.
template <class Scalar>
class ChunkTables {
 public:
  /// `L`: rows of a chunk; `keeps_states`: whether the state before each is kept, for two passes.
  ChunkTables(const RowPrograms<Scalar>& rows, Index L, Index count, bool keeps_states) {
    const Index H = rows.batches * rows.heads * count;
    const Index gates = rows.decays_by_channel ? rows.K : 1;
    const Index p = rows.parts;
    const Index reads = std::min(L / rows.rows_per_read, Index{rows.R});
    const auto room = [&](DeviceMatrices<Scalar>& to, bool wanted, Index height, Index width) -> Scalar* {
      if (!wanted) return nullptr;
      to = DeviceMatrices<Scalar>(H, height, width);
      return to.data();
    };
    view = {.count = count, .L = L, .reads = reads};
    view.P = room(P, true, reads, L);
    view.N = room(N, rows.erase, L, L);
    view.P_plain = room(P_plain, rows.k_plain.data, reads, L);
    view.N_plain = room(N_plain, rows.k_plain.data && rows.erase, L, L);
    view.g_in = room(g_in, rows.alpha.data, L, gates);
    view.g_out = room(g_out, rows.alpha.data, L, gates);
    view.m_in = room(m_in, rows.mu.data, L, rows.V);
    view.m_out = room(m_out, rows.mu.data, L, rows.V);
    view.sight_in = room(sight_in, rows.has_parts, reads, p);
    view.erase_sight_in = room(erase_sight_in, rows.has_parts && rows.erase, L, p);
    view.weights_out = room(weights_out, rows.has_parts, L, p);
    view.total = room(total, rows.has_parts, p, p);
    view.U = room(U, true, L, rows.V);
    view.S_in = room(S_in, keeps_states, p * rows.K, rows.V);
  }

  /// Bytes that one chunk of L rows of one head takes, rather too many.
  static double bytes(const Program<Scalar>& head, Index L) {
    const Structure& structure = head.structure;
    const auto n = static_cast<double>(L);
    const auto K = static_cast<double>(head.k.cols());
    const auto V = static_cast<double>(head.v.cols());
    const double matrices = (structure.erase != Erase::none ? 2 : 1) * (structure.plain_write ? 2 : 1);
    return sizeof(Scalar) *
           (matrices * n * n + n * (2 * K + 4 * V) + static_cast<double>(structure.part_count()) * K * V);
  }

  Chunks<Scalar> view;
  DeviceMatrices<Scalar> P, N, P_plain, N_plain, g_in, g_out, m_in, m_out, sight_in, erase_sight_in,
      weights_out, total, U, S_in;
};

template <class Scalar>
void record_row(const Structure& structure, const std::string& when, const Matrix<Scalar>& S,
                Recorder& record) {
  if (structure.parts.empty()) return record("S_" + when, S);
  const Index K = S.rows() / structure.part_count();
  for (Index i = 0; i < structure.part_count(); ++i)
    record(structure.parts[static_cast<std::size_t>(i)] + ("_" + when), S.middleRows(i * K, K));
}

/// What a trace asks of one chunk of one head besides its tables.
template <class Scalar>
struct TapRoom {
  DeviceMatrices<Scalar> R, inter, intra, S_written;

  explicit TapRoom(const RowsOnDevice<Scalar>& rows, Index reads)
      : R(1, rows.programs().T, rows.programs().V),
        inter(1, reads, rows.programs().V),
        intra(1, reads, rows.programs().V),
        S_written(1, rows.programs().parts * rows.programs().K, rows.programs().V) {}

  ChunkTap<Scalar> view() { return {R.data(), inter.data(), intra.data(), S_written.data()}; }
};

/// What is left of each write for every pair: [readers, L].
template <class Scalar>
Matrix<Scalar> weights(const RowsOnDevice<Scalar>& rows, const Chunks<Scalar>& chunks,
                       const ReaderTimes& readers, const DeviceRows<const Scalar>& sight, bool are_reads) {
  DeviceMatrices<Scalar> W(1, are_reads ? chunks.reads : chunks.L, chunks.L);
  make_chunk_weights(rows.programs(), chunks, readers, sight, are_reads, W.data());
  return W.matrix();
}

template <class Scalar>
void record_decays(const RowsOnDevice<Scalar>& rows, const ChunkTables<Scalar>& tables, Recorder& record) {
  const Structure& structure = rows.structure();
  const RowPrograms<Scalar>& programs = rows.programs();
  const bool erases = structure.erase != Erase::none;
  if (structure.value_decay) {
    const Matrix<Scalar> m_in = tables.m_in.matrix();
    record("m_in", m_in);
    if (structure.read_at == ReadAt::before_row) record("m_before", one_row_earlier<Scalar>(m_in, 1));
    record("m_out", tables.m_out.matrix());
    record("m_total", m_in.bottomRows(1).transpose());
  }
  if (!structure.parts.empty()) {
    record("G", weights(rows, tables.view, programs.reads, programs.read_sight, true));
    record("g_in", tables.sight_in.matrix());
    record("g_out", tables.weights_out.matrix());
    record("g_total", tables.total.matrix());
    if (!erases) return;
    record("G_erase", weights(rows, tables.view, programs.erases, programs.erase_sight, false));
    record("g_erase", tables.erase_sight_in.matrix());
    return;
  }
  if (structure.decay == Decay::none) return;
  const bool reads_early = structure.reads_early();
  const Matrix<Scalar> g_in = tables.g_in.matrix();
  record("g_in", g_in);
  record("g_out", tables.g_out.matrix());
  record("g_total", g_in.bottomRows(1).transpose());
  if (reads_early) record("g_before", one_row_earlier<Scalar>(g_in, 1));
  if (structure.decay != Decay::scalar) return;
  std::vector<Reader> after_each_row;
  for (Index i = 1; i <= programs.T; ++i) after_each_row.push_back({.decays = i, .writes = i});
  const DeviceTimes times(after_each_row);
  const Matrix<Scalar> G = weights(rows, tables.view, times.view(), {}, false);
  record("G", G);
  if (reads_early) record("G_before", one_row_earlier<Scalar>(G, 0));
}

template <class Scalar>
void record_writes(const RowsOnDevice<Scalar>& rows, const ChunkTables<Scalar>& tables,
                   const TapRoom<Scalar>& tap, Recorder& record) {
  if (rows.structure().erase == Erase::none) return;
  if (rows.structure().plain_write) record("N_plain", tables.N_plain.matrix());
  record("N", tables.N.matrix());
  record("R", tap.R.matrix());
  record("U", tables.U.matrix());
}

template <class Scalar>
void record_reads(const RowsOnDevice<Scalar>& rows, const ChunkTables<Scalar>& tables,
                  const TapRoom<Scalar>& tap, Recorder& record) {
  if (rows.programs().R == 0) return;
  if (rows.structure().plain_write) record("P_plain", tables.P_plain.matrix());
  record("P", tables.P.matrix());
  record("O_inter", tap.inter.matrix());
  record("O_intra", tap.intra.matrix());
}

enum class Pass { both, states };

/// All rows of one program as one chunk.
template <class Scalar>
Matrix<Scalar> whole_chunk(const Program<Scalar>& program, Carried<Scalar>& state, Recorder* recorder,
                           bool reads, Pass pass, Rounding rounding) {
  if (program.rows() == 0) return Matrix<Scalar>(0, program.v.cols());
  Matrix<Scalar>& S = state.front();
  RowsOnDevice<Scalar> rows({&program, 1}, {&state, 1}, reads, Gates::as_given, rounding);
  ChunkTables<Scalar> tables(rows.programs(), program.rows(), 1, false);
  TapRoom<Scalar> tap(rows, tables.view.reads);
  make_chunk_tables(rows.programs(), tables.view);
  chain_chunks(rows.programs(), tables.view, pass == Pass::both, tap.view());
  if (recorder) {
    (*recorder)("S_in", S);
    record_decays(rows, tables, *recorder);
    record_writes(rows, tables, tap, *recorder);
    if (pass == Pass::both) record_reads(rows, tables, tap, *recorder);
  }
  S = rows.S().matrix();
  if (recorder) {
    (*recorder)("S_written", tap.S_written.matrix());
    (*recorder)("S_out", S);
  }
  return pass == Pass::states ? tables.U.matrix() : rows.output();
}

/// Rows that a form makes tables of at a time.
template <class Scalar>
Index rows_of_chunk(Form form, const Program<Scalar>& head, Index chunk_size) {
  if (form == Form::recurrent) return 0;
  const Index tokens = head.reads();
  return (form == Form::parallel ? tokens : std::min(chunk_size, tokens)) * head.structure.rows_per_read;
}

/// `bytes`: of the tables of one chunk of L rows of all heads.
template <class Scalar>
void run_chunks(Form form, RowsOnDevice<Scalar>& rows, Index L, double bytes, const std::stop_token& stop) {
  if (L == 0) return;
  const RowPrograms<Scalar>& programs = rows.programs();
  const Index all = (programs.T + L - 1) / L;
  const Index at_once = fitting(bytes, std::min<Index>(all, most_grid_blocks));
  // Chunk by chunk the outputs are made on the way; else all at once, of the whole sequence too.
  const bool on_the_way = form == Form::chunkwise;
  ChunkTables<Scalar> tables(programs, L, at_once, !on_the_way);
  computing<Scalar>({&rows.S()}, [&] {
    for (Index first = 0; first < all; first += at_once) {
      stop_if_asked(stop);
      tables.view.first_row = first * L;
      tables.view.count = std::min(at_once, all - first);
      make_chunk_tables(programs, tables.view);
      chain_chunks(programs, tables.view, on_the_way);
      if (!on_the_way) chunk_reads(programs, tables.view);
    }
  });
}

static_assert(most_register_channels == recurrent_scalar_decay_largest_K);
static_assert(most_tensor_core_channels == tensor_float::most_channels);

template <class Scalar>
void run_on_tensor_cores(RowsOnDevice<Scalar>& rows) {
  if constexpr (std::is_same_v<Scalar, float>) {
    const TensorRows tensor_rows(rows.programs());
    computing<Scalar>({&rows.S()}, [&] { tensor_rows.compute(); });
    tensor_rows.unpack();
  }
}

template <class Scalar>
void run_in_tensor_float(RowsOnDevice<Scalar>& rows) {
  if constexpr (std::is_same_v<Scalar, float>) {
    TensorFloatRows tensor_rows(rows.programs());
    computing<Scalar>({&rows.S()}, [&] { tensor_rows.compute(); });
  }
}

/// One row after the other; a tap receives the last.
template <class Scalar>
Matrix<Scalar> recurrent(const Program<Scalar>& program, Carried<Scalar>& state, Recorder* recorder,
                         Rounding rounding) {
  const Structure& structure = program.structure;
  const bool reads = structure.reads_on_the_way();
  const bool erases = structure.erase != Erase::none;
  Matrix<Scalar>& S = state.front();
  RowsOnDevice<Scalar> rows({&program, 1}, {&state, 1}, reads, Gates::as_alpha, rounding);
  const Index V = program.v.cols();
  const Index K = program.k.cols();
  if (!recorder || program.rows() == 0) {
    recurrent_rows(rows.programs());
    S = rows.S().matrix();
    return rows.output();
  }
  DeviceMatrices<Scalar> before(S), moved(S), old(1, 1, V), error(1, 1, V), update(1, K, V), plain(1, K, V);
  recurrent_rows(rows.programs(), RecurrentTap<Scalar>{before.data(), moved.data(), old.data(), error.data(),
                                                       update.data(), plain.data()});
  S = rows.S().matrix();
  record_row(structure, "before", before.matrix(), *recorder);
  if (!structure.parts.empty()) {
    record_row(structure, "moved", moved.matrix(), *recorder);
  } else if (structure.decay != Decay::none || structure.value_decay) {
    record_row(structure, "decayed", moved.matrix(), *recorder);
  }
  if (erases) (*recorder)("old", old.matrix().transpose());
  if (erases) (*recorder)("error", error.matrix().transpose());
  (*recorder)("update", update.matrix());
  if (structure.plain_write) (*recorder)("plain_update", plain.matrix());
  record_row(structure, "after", S, *recorder);
  return rows.output();
}

/// The second of two passes: `program` has what the rows write for v.
template <class Scalar>
Matrix<Scalar> chunk_outputs(const Program<Scalar>& program, const Carried<Scalar>& state, Recorder* recorder,
                             Rounding rounding) {
  const Matrix<Scalar>& S_before = state.front();
  const Matrix<Scalar>& U = program.v;
  if (program.rows() == 0) return Matrix<Scalar>(0, program.v.cols());
  const bool reads = program.structure.reads_on_the_way();
  RowsOnDevice<Scalar> rows({&program, 1}, {&state, 1}, reads, Gates::as_given, rounding);
  ChunkTables<Scalar> tables(rows.programs(), program.rows(), 1, true);
  TapRoom<Scalar> tap(rows, tables.view.reads);
  make_chunk_tables(rows.programs(), tables.view);
  tables.U = DeviceMatrices<Scalar>(U);
  tables.view.U = tables.U.data();
  tables.S_in = DeviceMatrices<Scalar>(S_before);
  tables.view.S_in = tables.S_in.data();
  chunk_reads(rows.programs(), tables.view, tap.view());
  if (recorder) {
    (*recorder)("S_in", S_before);
    if (program.structure.erase != Erase::none) (*recorder)("U", U);
    record_decays(rows, tables, *recorder);
    record_reads(rows, tables, tap, *recorder);
  }
  return rows.output();
}

template <class Scalar>
class RowEngine : public CudaEngine<Program, Scalar> {
 public:
  using CudaEngine<Program, Scalar>::CudaEngine;

  KernelKind kernel(const EngineRequest& request, const Program<Scalar>& program) const override {
    if (request.phase) return KernelKind::plain;
    const Index K = program.k.cols();
    if (std::is_same_v<Scalar, float> && request.form == Form::chunkwise &&
        fit_tensor_cores(program.structure, K) &&
        (rounding_ == Rounding::bf16 ? has_hopper() : rounding_ == Rounding::tf32 && has_tensor_float()))
      return KernelKind::tensor_cores;
    const bool fits = request.form == Form::recurrent && fit_registers(program.structure, K);
    return fits ? KernelKind::registers : KernelKind::plain;
  }

  std::optional<std::string> missing(const EngineRequest& request,
                                     const Program<Scalar>& program) const override {
    if (rounding_ != Rounding::tf32 || request.phase || program.rows() == 0 ||
        kernel(request, program) == KernelKind::tensor_cores)
      return std::nullopt;
    return fmt::format(
        "tf32: the kernels for tensor cores take chunks of rows with up to {} key channels; these have {}",
        tensor_float::most_channels, program.k.cols());
  }

 private:
  using Base = CudaEngine<Program, Scalar>;
  using Base::rounding_;

  Matrix<Scalar> step(const EngineRequest& request, const Program<Scalar>& program,
                      Carried<Scalar>& state) const override {
    const bool reads = program.structure.reads_on_the_way();
    if (request.phase == 1) {
      return reads ? chunk_outputs(program, state, request.tap, rounding_)
                   : read(program.q, state.front(), rounding_);
    }
    switch (request.form) {
      case Form::recurrent:
        return recurrent(program, state, request.tap, rounding_);
      case Form::chunkwise:
        return whole_chunk(program, state, request.tap, reads, Pass::both, rounding_);
      case Form::two_pass:  // the decays of the reads are known already
        return whole_chunk(program, state, request.tap, reads, Pass::states, rounding_);
      case Form::parallel:
        break;
    }
    return whole_chunk(program, state, request.tap, true, Pass::both, rounding_);
  }

  double bytes(const EngineRequest& request, const Program<Scalar>& head,
               const Carried<Scalar>&) const override {
    return ChunkTables<Scalar>::bytes(head, rows_of_chunk(request.form, head, request.chunk_size));
  }

  typename Base::Outputs run_heads(const EngineRequest& request, typename Base::Heads heads,
                                   typename Base::States states) const override {
    const bool is_recurrent = request.form == Form::recurrent;
    RowsOnDevice<Scalar> rows(heads, states, heads.front().structure.reads_on_the_way(),
                              is_recurrent ? Gates::as_alpha : Gates::as_given, rounding_);
    const KernelKind taken = kernel(request, heads.front());
    if (taken == KernelKind::tensor_cores && rows.programs().T > 0) {
      if (rounding_ == Rounding::bf16)
        run_on_tensor_cores(rows);
      else
        run_in_tensor_float(rows);
    } else if (!is_recurrent) {
      const Index L = rows_of_chunk(request.form, heads.front(), request.chunk_size);
      run_chunks(request.form, rows, L,
                 static_cast<double>(heads.size()) * ChunkTables<Scalar>::bytes(heads.front(), L),
                 request.stop);
    } else if (taken == KernelKind::registers) {
      computing<Scalar>({&rows.S()}, [&] { recurrent_scalar_decay(rows.programs()); });
    } else {
      computing<Scalar>({&rows.S()}, [&] { recurrent_rows(rows.programs()); });
    }
    download_part(rows.S(), states, 0);
    return rows.outputs();
  }
};

}  // namespace

template <class Scalar>
OwnedEngine<Program, Scalar> row_engine(Rounding rounding) {
  return std::make_unique<RowEngine<Scalar>>(rounding);
}

template OwnedEngine<Program, double> row_engine(Rounding);
template OwnedEngine<Program, float> row_engine(Rounding);

}  // namespace palimpsest::cuda
