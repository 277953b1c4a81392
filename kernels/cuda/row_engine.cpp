#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/engines/chunk_decays.h"
#include "core/engines/device_engines.h"
#include "kernels/cuda/engine.h"
#include "kernels/cuda/row_kernels.h"
#include "kernels/cuda/tensor_rows.h"

namespace palimpsest::cuda {

namespace {

/// How gates lie on the device.
enum class Gates { as_given, as_alpha };

/// Times of readers, on the device.
template <class Scalar>
ReaderTimes upload(HeadsOnDevice<Program, Scalar>& device, const std::vector<Reader>& readers) {
  std::vector<Index> times;
  for (const Index Reader::*time : {&Reader::decays, &Reader::writes})
    for (const Reader& reader : readers) times.push_back(reader.*time);
  if (!std::ranges::is_sorted(readers, {}, &Reader::decays))
    throw Error("a reader reads before the one in front of it; the CUDA kernels need them in order");
  const Index* const all = device.upload_indices(times);
  return {all, all + readers.size()};
}

/// The programs of all heads, uploaded once, with their states and room for what they read.
template <class Scalar>
struct RowsOnDevice {
  HeadsOnDevice<Program, Scalar> device;
  Structure structure;
  RowPrograms<Scalar> programs;

  /// `reads`: whether there are any; a program that reads the final state may leave them to others.
  RowsOnDevice(std::span<const Program<Scalar>> heads, std::span<Carried<Scalar>> states, bool reads,
               Gates gates, Rounding rounding, Recorder* tap = nullptr)
      : device(heads, states, rounding, tap), structure(heads.front().structure) {
    using P = Program<Scalar>;
    using Rows = DeviceRows<const Scalar>;
    const P& first = heads.front();
    const auto upload_if = [&](bool has, auto of) { return has ? Rows(device.upload(of)) : Rows(); };
    const auto rows_if = [&](bool has, auto of) { return has ? Rows(device.rows(of)) : Rows(); };
    const bool has_parts = !structure.parts.empty();
    const bool erases = structure.erase != Erase::none;
    const bool as_given = gates == Gates::as_given;
    const bool decays = structure.decay != Decay::none;
    programs = {.heads = device.count(),
                .T = first.rows(),
                .K = first.k.cols(),
                .V = first.v.cols(),
                .erase = erases,
                .q = device.rows(&P::q),
                .k = device.rows(&P::k),
                .v = device.rows(&P::v),
                .alpha = as_given ? upload_if(decays, &P::gate) : upload_if(decays, &P::alpha),
                .beta = upload_if(structure.beta, &P::beta),
                .R = reads ? first.reads() : 0,
                .rows_per_read = structure.rows_per_read,
                .reads_first = structure.read_at == ReadAt::before_row,
                .parts = structure.part_count(),
                .has_parts = has_parts,
                .decays_by_channel = structure.decay == Decay::key,
                .gates_are_logs = as_given && structure.gates_are_logs,
                .erases_undecayed = structure.erase == Erase::undecayed,
                .writes_value = structure.writes_value,
                .a = rows_if(structure.erase_key, &P::a),
                .mu = upload_if(structure.value_decay, &P::mu),
                .k_plain = rows_if(structure.plain_write, &P::k_plain),
                .v_plain = rows_if(structure.plain_write, &P::v_plain),
                .transition = upload_if(has_parts, &P::transition),
                .inject = upload_if(has_parts, &P::inject),
                .erase_sight = upload_if(has_parts && erases, &P::erase_sight),
                .read_sight = upload_if(has_parts, &P::read_sight),
                .erases = upload(device, first.erase_readers()),
                .reads = upload(device, first.output_readers())};
    if (!structure.erase_key) programs.a = programs.k;
    programs.o = device.outputs(programs.R, programs.V);
    programs.initial_state = programs.final_state = device.state(0).data();
  }
};

/// The tables of some chunks of L rows; `keeps_states`: with the state before each, for two passes.
template <class Scalar>
Chunks<Scalar> make_tables(RowsOnDevice<Scalar>& on_device, Index L, Index count, bool keeps_states) {
  const RowPrograms<Scalar>& rows = on_device.programs;
  const Index gates = rows.decays_by_channel ? rows.K : 1;
  const Index p = rows.parts;
  const Index reads = std::min(L / rows.rows_per_read, Index{rows.R});
  const auto room_if = [&](bool wanted, const char* name, Index height, Index width) -> Scalar* {
    return wanted ? on_device.device.make(name, rows.heads * count, height, width).data() : nullptr;
  };
  const bool erases_parts = rows.has_parts && rows.erase;
  return {.count = count,
          .L = L,
          .reads = reads,
          .P = room_if(true, "P", reads, L),
          .N = room_if(rows.erase, "N", L, L),
          .P_plain = room_if(rows.k_plain.data, "P_plain", reads, L),
          .N_plain = room_if(rows.k_plain.data && rows.erase, "N_plain", L, L),
          .g_in = room_if(rows.alpha.data, "g_in", L, gates),
          .g_out = room_if(rows.alpha.data, "g_out", L, gates),
          .m_in = room_if(rows.mu.data, "m_in", L, rows.V),
          .m_out = room_if(rows.mu.data, "m_out", L, rows.V),
          .sight_in = room_if(rows.has_parts, "sight_in", reads, p),
          .erase_sight_in = room_if(erases_parts, "erase_sight_in", L, p),
          .weights_out = room_if(rows.has_parts, "weights_out", L, p),
          .total = room_if(rows.has_parts, "total", p, p),
          .U = room_if(true, "U", L, rows.V),
          .S_in = room_if(keeps_states, "S_in", p * rows.K, rows.V)};
}

/// Bytes that the tables of one chunk of L rows of one head take, rather too many.
template <class Scalar>
double bytes_of_tables(const Program<Scalar>& head, Index L) {
  const Structure& structure = head.structure;
  const auto n = static_cast<double>(L);
  const auto K = static_cast<double>(head.k.cols());
  const auto V = static_cast<double>(head.v.cols());
  const double matrices = (structure.erase != Erase::none ? 2 : 1) * (structure.plain_write ? 2 : 1);
  return sizeof(Scalar) *
         (matrices * n * n + n * (2 * K + 4 * V) + static_cast<double>(structure.part_count()) * K * V);
}

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
ChunkTap<Scalar> make_tap(RowsOnDevice<Scalar>& rows, Index reads) {
  const RowPrograms<Scalar>& programs = rows.programs;
  const Index V = programs.V;
  return {rows.device.tapped("R", programs.T, V), rows.device.tapped("O_inter", reads, V),
          rows.device.tapped("O_intra", reads, V),
          rows.device.tapped("S_written", programs.parts * programs.K, V)};
}

/// What is left of each write for every pair: [readers, L].
template <class Scalar>
Matrix<Scalar> weights(RowsOnDevice<Scalar>& rows, const Chunks<Scalar>& chunks, const ReaderTimes& readers,
                       const DeviceRows<const Scalar>& sight, bool are_reads) {
  DeviceMatrices<Scalar> W(1, are_reads ? chunks.reads : chunks.L, chunks.L);
  chunks.make_weights(rows.programs, readers, sight, are_reads, W.data());
  return W.matrix();
}

template <class Scalar>
void record_decays(RowsOnDevice<Scalar>& rows, const Chunks<Scalar>& chunks, Recorder& record) {
  const Structure& structure = rows.structure;
  const RowPrograms<Scalar>& programs = rows.programs;
  const auto& tables = rows.device;
  if (structure.value_decay) {
    const Matrix<Scalar> m_in = tables["m_in"];
    record("m_in", m_in);
    if (structure.read_at == ReadAt::before_row) record("m_before", one_row_earlier<Scalar>(m_in, 1));
    record("m_out", tables["m_out"]);
    record("m_total", m_in.bottomRows(1).transpose());
  }
  if (!structure.parts.empty()) {
    record("G", weights(rows, chunks, programs.reads, programs.read_sight, true));
    record("g_in", tables["sight_in"]);
    record("g_out", tables["weights_out"]);
    record("g_total", tables["total"]);
    if (structure.erase == Erase::none) return;
    record("G_erase", weights(rows, chunks, programs.erases, programs.erase_sight, false));
    record("g_erase", tables["erase_sight_in"]);
    return;
  }
  if (structure.decay == Decay::none) return;
  const bool reads_early = structure.reads_early();
  const Matrix<Scalar> g_in = tables["g_in"];
  record("g_in", g_in);
  record("g_out", tables["g_out"]);
  record("g_total", g_in.bottomRows(1).transpose());
  if (reads_early) record("g_before", one_row_earlier<Scalar>(g_in, 1));
  if (structure.decay != Decay::scalar) return;
  std::vector<Reader> after_each_row;
  for (Index i = 1; i <= programs.T; ++i) after_each_row.push_back({.decays = i, .writes = i});
  const Matrix<Scalar> G = weights(rows, chunks, upload(rows.device, after_each_row), {}, false);
  record("G", G);
  if (reads_early) record("G_before", one_row_earlier<Scalar>(G, 0));
}

/// What the tables and the tap hold under these names.
template <class Scalar>
void record_all(const RowsOnDevice<Scalar>& rows, std::initializer_list<const char*> names,
                Recorder& record) {
  for (const char* const name : names) record(name, rows.device[name]);
}

template <class Scalar>
void record_reads(const RowsOnDevice<Scalar>& rows, Recorder& record) {
  if (rows.programs.R == 0) return;
  if (rows.structure.plain_write) record_all(rows, {"P_plain"}, record);
  record_all(rows, {"P", "O_inter", "O_intra"}, record);
}

enum class Pass { both, states };

/// All rows of one program as one chunk.
template <class Scalar>
Matrix<Scalar> whole_chunk(const Program<Scalar>& program, Carried<Scalar>& state, Recorder* recorder,
                           bool reads, Pass pass, Rounding rounding) {
  if (program.rows() == 0) return Matrix<Scalar>(0, program.v.cols());
  RowsOnDevice<Scalar> rows({&program, 1}, {&state, 1}, reads, Gates::as_given, rounding, recorder);
  const Chunks<Scalar> chunks = make_tables(rows, program.rows(), 1, false);
  chunks.make_tables(rows.programs);
  chunks.chain(rows.programs, pass == Pass::both, make_tap(rows, chunks.reads));
  if (recorder) {
    (*recorder)("S_in", state.front());
    record_decays(rows, chunks, *recorder);
    if (program.structure.erase != Erase::none) {
      if (program.structure.plain_write) record_all(rows, {"N_plain"}, *recorder);
      record_all(rows, {"N", "R", "U"}, *recorder);
    }
    if (pass == Pass::both) record_reads(rows, *recorder);
    record_all(rows, {"S_written"}, *recorder);
  }
  const Matrix<Scalar> o = rows.device.finish().front();
  if (recorder) (*recorder)("S_out", state.front());
  return pass == Pass::states ? rows.device["U"] : o;
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
  const RowPrograms<Scalar>& programs = rows.programs;
  const Index all = (programs.T + L - 1) / L;
  const Index at_once = fitting(bytes, std::min<Index>(all, most_grid_blocks));
  // Chunk by chunk the outputs are made on the way; else all at once, of the whole sequence too.
  const bool on_the_way = form == Form::chunkwise;
  Chunks<Scalar> chunks = make_tables(rows, L, at_once, !on_the_way);
  rows.device.compute([&] {
    for (Index first = 0; first < all; first += at_once) {
      stop_if_asked(stop);
      chunks.first_row = first * L;
      chunks.count = std::min(at_once, all - first);
      chunks.make_tables(programs);
      chunks.chain(programs, on_the_way);
      if (!on_the_way) chunks.read(programs);
    }
  });
}

static_assert(most_register_channels == recurrent_scalar_decay_largest_K);
static_assert(most_tensor_core_channels == tensor_float::most_channels);

template <class Scalar>
void run_on_tensor_cores(RowsOnDevice<Scalar>& rows, Rounding rounding) {
  if constexpr (std::is_same_v<Scalar, float>) {
    if (rounding == Rounding::tf32) {
      const TensorFloatRows tensor_rows(rows.programs);
      return rows.device.compute([&] { tensor_rows.compute(); });
    }
    const TensorRows tensor_rows(rows.programs);
    rows.device.compute([&] { tensor_rows.compute(); });
    tensor_rows.unpack();
  }
}

template <class Scalar>
void run_recurrence(RowsOnDevice<Scalar>& rows, KernelKind kernel) {
  rows.device.compute([&] {
    if (kernel == KernelKind::registers)
      recurrent_scalar_decay(rows.programs);
    else
      recurrent_rows(rows.programs);
  });
}

/// One row after the other; a tap receives the last.
template <class Scalar>
Matrix<Scalar> recurrent(const Program<Scalar>& program, Carried<Scalar>& state, Recorder* recorder,
                         Rounding rounding) {
  const Structure& structure = program.structure;
  const bool erases = structure.erase != Erase::none;
  const bool records = recorder && program.rows() > 0;
  RowsOnDevice<Scalar> rows({&program, 1}, {&state, 1}, structure.reads_on_the_way(), Gates::as_alpha,
                            rounding, records ? recorder : nullptr);
  auto& device = rows.device;
  const Index V = program.v.cols();
  const Index K = program.k.cols();
  const Index height = structure.part_count() * K;
  recurrent_rows(rows.programs,
                 RecurrentTap<Scalar>{device.tapped("before", height, V), device.tapped("moved", height, V),
                                      device.tapped("old", V), device.tapped("error", V),
                                      device.tapped("update", K, V), device.tapped("plain_update", K, V)});
  const Matrix<Scalar> o = device.finish().front();
  if (!records) return o;
  record_row(structure, "before", device["before"], *recorder);
  if (!structure.parts.empty()) {
    record_row(structure, "moved", device["moved"], *recorder);
  } else if (structure.decay != Decay::none || structure.value_decay) {
    record_row(structure, "decayed", device["moved"], *recorder);
  }
  if (erases) record_all(rows, {"old", "error"}, *recorder);
  record_all(rows, {"update"}, *recorder);
  if (structure.plain_write) record_all(rows, {"plain_update"}, *recorder);
  record_row(structure, "after", state.front(), *recorder);
  return o;
}

/// The second of two passes: `program` has what the rows write for v.
template <class Scalar>
Matrix<Scalar> chunk_outputs(const Program<Scalar>& program, Carried<Scalar> state, Recorder* recorder,
                             Rounding rounding) {
  const Matrix<Scalar>& U = program.v;
  if (program.rows() == 0) return Matrix<Scalar>(0, U.cols());
  const bool reads = program.structure.reads_on_the_way();
  RowsOnDevice<Scalar> rows({&program, 1}, {&state, 1}, reads, Gates::as_given, rounding, recorder);
  Chunks<Scalar> chunks = make_tables(rows, program.rows(), 1, false);
  chunks.make_tables(rows.programs);
  chunks.U = rows.device.keep("", DeviceMatrices<Scalar>(U)).data();
  chunks.S_in = rows.programs.final_state;  // nobody changes it
  chunks.read(rows.programs, make_tap(rows, chunks.reads));
  if (recorder) {
    (*recorder)("S_in", state.front());
    if (program.structure.erase != Erase::none) (*recorder)("U", U);
    record_decays(rows, chunks, *recorder);
    record_reads(rows, *recorder);
  }
  return rows.device.finish().front();
}

}  // namespace

template <class Scalar>
class FamilyEngine<Program, Scalar> : public CudaEngine<Program, Scalar> {
 public:
  using Base = CudaEngine<Program, Scalar>;
  using Base::Base;

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
    return bytes_of_tables(head, rows_of_chunk(request.form, head, request.chunk_size));
  }

  typename Base::Outputs run_heads(const EngineRequest& request, typename Base::Heads heads,
                                   typename Base::States states) const override {
    const bool is_recurrent = request.form == Form::recurrent;
    RowsOnDevice<Scalar> rows(heads, states, heads.front().structure.reads_on_the_way(),
                              is_recurrent ? Gates::as_alpha : Gates::as_given, rounding_);
    const KernelKind taken = kernel(request, heads.front());
    if (taken == KernelKind::tensor_cores && rows.programs.T > 0) {
      run_on_tensor_cores(rows, rounding_);
    } else if (!is_recurrent) {
      const Index L = rows_of_chunk(request.form, heads.front(), request.chunk_size);
      run_chunks(request.form, rows, L, static_cast<double>(heads.size()) * bytes_of_tables(heads.front(), L),
                 request.stop);
    } else {
      run_recurrence(rows, taken);
    }
    return rows.device.finish();
  }
};

template OwnedEngine<Program, double> make_engine(Rounding);
template OwnedEngine<Program, float> make_engine(Rounding);

}  // namespace palimpsest::cuda
