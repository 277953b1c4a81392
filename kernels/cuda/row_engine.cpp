#include <fmt/format.h>

#include "core/engines/row_engines.h"
#include "kernels/cuda/engine.h"
#include "kernels/cuda/row_kernels.h"

namespace palimpsest::cuda {

static_assert(most_register_channels(false) == recurrent_in_registers_largest_K(false));
static_assert(most_register_channels(true) == recurrent_in_registers_largest_K(true));

template <class Scalar>
class FamilyRun<Program, Scalar> : public AnyFamily {
 public:
  using Rows = Program<Scalar>;
  using Outputs = std::vector<Matrix<Scalar>>;

  explicit FamilyRun(HeadsOnDevice<Program, Scalar>& device)
      : device_(device),
        request_(device.request),
        program_(device.first()),
        structure_(program_.structure),
        erases_(structure_.erase != Erase::none),
        has_parts_(!structure_.parts.empty()) {}

  static KernelKind kernel(const EngineRequest& request, const Rows& program, Rounding rounding) {
    if (request.phase) return KernelKind::plain;
    const Index K = program.k.cols();
    if (std::is_same_v<Scalar, float> && request.form == Form::chunkwise &&
        fit_tensor_cores(program.structure, K) && has_tensor_cores(rounding))
      return KernelKind::tensor_cores;
    const bool fits = request.form == Form::recurrent && fit_registers(program.structure, K);
    return fits ? KernelKind::registers : KernelKind::plain;
  }

  static std::optional<std::string> missing(const EngineRequest& request, const Rows& program,
                                            Rounding rounding) {
    if (rounding != Rounding::tf32 || request.phase || program.rows() == 0 ||
        kernel(request, program, rounding) == KernelKind::tensor_cores)
      return std::nullopt;
    return fmt::format(
        "tf32: the kernels for tensor cores take chunks of rows with up to {} key channels; these have {}",
        most_tensor_core_channels, program.k.cols());
  }

  /// The bytes of the tables of one chunk.
  static double bytes(const EngineRequest& request, const Rows& head, const Carried<Scalar>&) {
    const Structure& structure = head.structure;
    const auto n = static_cast<double>(rows_of_chunk(request, head));
    const auto K = static_cast<double>(head.k.cols());
    const auto V = static_cast<double>(head.v.cols());
    const double matrices = (structure.erase != Erase::none ? 2 : 1) * (structure.plain_write ? 2 : 1);
    return sizeof(Scalar) *
           (matrices * n * n + n * (5 * K + 4 * V) + static_cast<double>(structure.part_count()) * K * V);
  }

  Outputs run() {
    if (!request_.phase) {
      run_heads();
      return device_.finish();
    }
    if (request_.phase == 1 && !structure_.reads_on_the_way())
      return {read(program_.q, device_.states().front().front(), device_.rounding())};
    if (program_.rows() == 0) return {Matrix<Scalar>(0, program_.v.cols())};
    return request_.form == Form::recurrent ? take_row() : take_chunk();
  }

 private:
  /// Rows that a form makes tables of at a time.
  static Index rows_of_chunk(const EngineRequest& request, const Rows& head) {
    if (request.form == Form::recurrent) return 0;
    const Index tokens = head.reads();
    const Index at_once = request.form == Form::parallel ? tokens : std::min(request.chunk_size, tokens);
    return at_once * head.structure.rows_per_read;
  }

  /// The programs of all heads, with room for what they read: a program that reads the final state leaves
  /// that to others but in a block of the parallel form.
  void upload() {
    using Given = DeviceRows<const Scalar>;
    const auto upload_if = [&](bool has, auto of) { return has ? Given(device_.upload(of)) : Given(); };
    const auto rows_if = [&](bool has, auto of) { return has ? Given(device_.rows(of)) : Given(); };
    const bool as_given = request_.form != Form::recurrent;
    const bool decays = structure_.decay != Decay::none;
    const bool reads = structure_.reads_on_the_way() || (request_.phase && request_.form == Form::parallel);
    programs_ = {.heads = device_.count(),
                 .T = program_.rows(),
                 .K = program_.k.cols(),
                 .V = program_.v.cols(),
                 .erase = erases_,
                 .q = device_.rows(&Rows::q),
                 .k = device_.rows(&Rows::k),
                 .v = device_.rows(&Rows::v),
                 .alpha = as_given ? upload_if(decays, &Rows::gate) : upload_if(decays, &Rows::alpha),
                 .beta = upload_if(structure_.beta, &Rows::beta),
                 .R = reads ? program_.reads() : 0,
                 .rows_per_read = structure_.rows_per_read,
                 .reads_first = structure_.read_at == ReadAt::before_row,
                 .parts = structure_.part_count(),
                 .has_parts = has_parts_,
                 .decays_by_channel = structure_.decay == Decay::key,
                 .gates_are_logs = as_given && structure_.gates_are_logs,
                 .erases_undecayed = structure_.erase == Erase::undecayed,
                 .writes_value = structure_.writes_value,
                 .a = rows_if(structure_.erase_key, &Rows::a),
                 .mu = upload_if(structure_.value_decay, &Rows::mu),
                 .k_plain = rows_if(structure_.plain_write, &Rows::k_plain),
                 .v_plain = rows_if(structure_.plain_write, &Rows::v_plain),
                 .transition = upload_if(has_parts_, &Rows::transition),
                 .inject = upload_if(has_parts_, &Rows::inject),
                 .erase_sight = upload_if(has_parts_ && erases_, &Rows::erase_sight),
                 .read_sight = upload_if(has_parts_, &Rows::read_sight),
                 .erases = upload(program_.erase_readers()),
                 .reads = upload(program_.output_readers())};
    if (!structure_.erase_key) programs_.a = programs_.k;
    programs_.o = device_.outputs(programs_.R, programs_.V);
    programs_.state = device_.state(0).data();
  }

  /// Times of readers.
  ReaderTimes upload(const std::vector<Reader>& readers) {
    std::vector<Index> times;
    for (const Index Reader::*time : {&Reader::decays, &Reader::writes})
      for (const Reader& reader : readers) times.push_back(reader.*time);
    if (!std::ranges::is_sorted(readers, {}, &Reader::decays))
      throw Error("a reader reads before the one in front of it; the CUDA kernels need them in order");
    const Index* const all = device_.upload_indices(times);
    return {all, all + readers.size()};
  }

  /// The tables of some chunks of L rows; `keeps_states`: with the state before each, for two passes.
  Chunks<Scalar> make_tables(Index L, Index count, bool keeps_states) {
    const Index gates = programs_.decays_by_channel ? programs_.K : 1;
    const Index p = programs_.parts;
    const Index reads = std::min(L / programs_.rows_per_read, Index{programs_.R});
    const Index tiles = (L + rows_of_channel_tile - 1) / rows_of_channel_tile;
    const bool in_tiles = programs_.alpha.data && programs_.decays_by_channel && tiles > 1;
    const auto room_if = [&](bool wanted, const char* name, Index height, Index width) -> Scalar* {
      return wanted ? device_.make(name, programs_.heads * count, height, width).data() : nullptr;
    };
    return {.count = count,
            .L = L,
            .reads = reads,
            .P = room_if(true, "P", reads, L),
            .N = room_if(erases_, "N", L, L),
            .P_plain = room_if(structure_.plain_write, "P_plain", reads, L),
            .N_plain = room_if(structure_.plain_write && erases_, "N_plain", L, L),
            .g_in = room_if(programs_.alpha.data, "g_in", L, gates),
            .g_out = room_if(programs_.alpha.data, "g_out", L, gates),
            .m_in = room_if(programs_.mu.data, "m_in", L, programs_.V),
            .m_out = room_if(programs_.mu.data, "m_out", L, programs_.V),
            .sight_in = room_if(has_parts_, "sight_in", reads, p),
            .erase_sight_in = room_if(has_parts_ && erases_, "erase_sight_in", L, p),
            .weights_out = room_if(has_parts_, "weights_out", L, p),
            .total = room_if(has_parts_, "total", p, p),
            .channel_tiles = tiles,
            .x_near = room_if(in_tiles, "", L, gates),
            .y_far = room_if(in_tiles, "", L, gates),
            .tile_decay = room_if(in_tiles, "", tiles, gates),
            .U = room_if(true, "U", L, programs_.V),
            .S_in = room_if(keeps_states, "S_in", p * programs_.K, programs_.V)};
  }

  void run_heads() {
    upload();
    const KernelKind taken = kernel(request_, program_, device_.rounding());
    if constexpr (std::is_same_v<Scalar, float>) {
      if (taken == KernelKind::tensor_cores && programs_.T > 0)
        return run_on_tensor_cores(programs_, device_.rounding(),
                                   [&](const auto& launches) { device_.compute(launches); });
    }
    if (request_.form != Form::recurrent)
      run_chunks();
    else
      device_.compute([&] {
        taken == KernelKind::registers ? recurrent_in_registers(programs_) : recurrent_rows(programs_);
      });
  }

  void run_chunks() {
    const Index L = rows_of_chunk(request_, program_);
    if (L == 0) return;
    const Index all = (programs_.T + L - 1) / L;
    const double bytes_of_all = static_cast<double>(device_.count()) * bytes(request_, program_, {});
    const Index at_once = fitting(bytes_of_all, std::min<Index>(all, most_grid_blocks));
    // Chunk by chunk the outputs are made on the way; else all at once, of the whole sequence too.
    const bool on_the_way = request_.form == Form::chunkwise;
    Chunks<Scalar> chunks = make_tables(L, at_once, !on_the_way);
    device_.compute([&] {
      device_.in_parts(all, at_once, [&](Index first, Index count) {
        chunks.first_row = first * L;
        chunks.count = count;
        chunks.make_tables(programs_);
        chunks.chain(programs_, on_the_way);
        if (!on_the_way) chunks.read(programs_);
      });
    });
  }

  /// One row after the other; a tap receives the last.
  Outputs take_row() {
    upload();
    const Index K = programs_.K;
    const Index V = programs_.V;
    const Index height = programs_.parts * K;
    recurrent_rows(programs_, RecurrentTap<Scalar>{
                                  device_.tapped("before", height, V), device_.tapped("moved", height, V),
                                  device_.tapped("old", V), device_.tapped("error", V),
                                  device_.tapped("update", K, V), device_.tapped("plain_update", K, V)});
    Outputs o = device_.finish();
    if (!request_.tap) return o;
    record_state("before", device_["before"]);
    if (has_parts_ || structure_.decay != Decay::none || structure_.value_decay)
      record_state(has_parts_ ? "moved" : "decayed", device_["moved"]);
    if (erases_) device_.record({"old", "error"});
    device_.record({"update"});
    if (structure_.plain_write) device_.record({"plain_update"});
    record_state("after", device_.states().front().front());
    return o;
  }

  /// The state or each of its parts, [K, V], for the tap.
  void record_state(const std::string& when, const Matrix<Scalar>& S) const {
    if (!has_parts_) return device_.record("S_" + when, S);
    for (Index i = 0; i < programs_.parts; ++i)
      device_.record(entry(structure_.parts, i) + ("_" + when), S.middleRows(i * programs_.K, programs_.K));
  }

  /// All rows of a block as one chunk. In two passes what they write, and then, where v has that, what is
  /// read.
  Outputs take_chunk() {
    upload();
    const bool is_second_pass = request_.phase == 1;
    const bool writes_alone = request_.form == Form::two_pass && !is_second_pass;
    Chunks<Scalar> chunks = make_tables(program_.rows(), 1, false);
    chunks.make_tables(programs_);
    const ChunkTap<Scalar> tap = {device_.tapped("R", programs_.T, programs_.V),
                                  device_.tapped("O_inter", chunks.reads, programs_.V),
                                  device_.tapped("O_intra", chunks.reads, programs_.V),
                                  device_.tapped("S_written", programs_.parts * programs_.K, programs_.V)};
    if (is_second_pass) {
      chunks.U = device_.keep("", DeviceMatrices<Scalar>(program_.v)).data();
      chunks.S_in = programs_.state;  // read only
      chunks.read(programs_, tap);
    } else {
      chunks.chain(programs_, !writes_alone, tap);
    }
    if (request_.tap) record_chunk(chunks, !writes_alone);
    if (is_second_pass) return device_.finish();
    Outputs o = device_.finish("S");
    return writes_alone ? Outputs{device_["U"]} : o;
  }

  void record_chunk(const Chunks<Scalar>& chunks, bool reads) {
    record_decays(chunks);
    if (request_.phase == 1) {
      device_.record("S_in", device_.states().front().front());
      if (erases_) device_.record("U", program_.v);
    } else {
      if (erases_ && structure_.plain_write) device_.record({"N_plain"});
      if (erases_) device_.record({"N", "R", "U"});
      device_.record({"S_written"});
    }
    if (!reads || programs_.R == 0) return;
    if (structure_.plain_write) device_.record({"P_plain"});
    device_.record({"P", "O_inter", "O_intra"});
  }

  void record_decays(const Chunks<Scalar>& chunks) {
    if (structure_.value_decay) {
      const Matrix<Scalar> m_in = device_["m_in"];
      device_.record({"m_in", "m_out"});
      if (structure_.read_at == ReadAt::before_row)
        device_.record("m_before", one_row_earlier<Scalar>(m_in, 1));
      device_.record("m_total", m_in.bottomRows(1).transpose());
    }
    if (has_parts_) {
      device_.record("G", weights(chunks, programs_.reads, programs_.read_sight, true));
      device_.record("g_in", device_["sight_in"]);
      device_.record("g_out", device_["weights_out"]);
      device_.record("g_total", device_["total"]);
      if (!erases_) return;
      device_.record("G_erase", weights(chunks, programs_.erases, programs_.erase_sight, false));
      device_.record("g_erase", device_["erase_sight_in"]);
      return;
    }
    if (structure_.decay == Decay::none) return;
    const bool reads_early = structure_.reads_early();
    const Matrix<Scalar> g_in = device_["g_in"];
    device_.record({"g_in", "g_out"});
    device_.record("g_total", g_in.bottomRows(1).transpose());
    if (reads_early) device_.record("g_before", one_row_earlier<Scalar>(g_in, 1));
    if (structure_.decay != Decay::scalar) return;
    std::vector<Reader> after_each_row;
    for (Index i = 1; i <= programs_.T; ++i) after_each_row.push_back({.decays = i, .writes = i});
    const Matrix<Scalar> G = weights(chunks, upload(after_each_row), {}, false);
    device_.record("G", G);
    if (reads_early) device_.record("G_before", one_row_earlier<Scalar>(G, 0));
  }

  /// The weight of each write for each reader: [readers, L].
  Matrix<Scalar> weights(const Chunks<Scalar>& chunks, const ReaderTimes& readers,
                         const DeviceRows<const Scalar>& sight, bool are_reads) const {
    DeviceMatrices<Scalar> W(1, are_reads ? chunks.reads : chunks.L, chunks.L);
    chunks.make_weights(programs_, readers, sight, are_reads, W.data());
    return W.matrix();
  }

  HeadsOnDevice<Program, Scalar>& device_;
  const EngineRequest& request_;
  const Rows& program_;
  const Structure& structure_;
  bool erases_;
  bool has_parts_;
  RowPrograms<Scalar> programs_;
};

PALIMPSEST_CUDA_ENGINES(, Program);

}  // namespace palimpsest::cuda
