#include "core/engines/row_engines.h"

#include <numeric>
#include <utility>

#include "core/engines/chunk_decays.h"

namespace palimpsest {

namespace {

/// (I + N) U = R row by row: U_i = R_i - sum_{j<i} N_ij U_j.
template <class Scalar>
Matrix<Scalar> forward_substitution(const Matrix<Scalar>& N, const Matrix<Scalar>& R) {
  Matrix<Scalar> U = R;
  for (Index i = 1; i < U.rows(); ++i) U.row(i).noalias() -= N.row(i).head(i) * U.topRows(i);
  return U;
}

/// [R]: after how many rows each reader reads.
std::vector<Index> rows_before(const std::vector<Reader>& readers) {
  std::vector<Index> rows;
  for (const Reader& reader : readers) rows.push_back(reader.writes);
  return rows;
}

template <class Scalar>
void record_decays(const Program<Scalar>& program, const ChunkDecay<Scalar>& decay, Recorder& record) {
  const Structure& structure = program.structure;
  const bool reads_early = structure.reads_early();
  if (structure.decay == Decay::scalar) {
    record("G", decay.mask());
    if (reads_early) record("G_before", one_row_earlier<Scalar>(decay.mask(), 0));
  }
  if (structure.decay != Decay::none) {
    record("g_in", decay.cumulative());
    if (reads_early) record("g_before", one_row_earlier<Scalar>(decay.cumulative(), 1));
    record("g_out", decay.remaining());
    record("g_total", decay.cumulative().bottomRows(1).transpose());
  }
}

template <class Scalar>
void record_decays(const Program<Scalar>& program, const ChunkParts<Scalar>& parts, Recorder& record) {
  const std::vector<Reader> reads = program.output_readers();
  record("G", parts.mask(reads));
  record("g_in", parts.weights_from_start(reads));
  if (program.structure.erase != Erase::none) {
    const std::vector<Reader> erases = program.erase_readers();
    record("G_erase", parts.mask(erases));
    record("g_erase", parts.weights_from_start(erases));
  }
  record("g_out", parts.weights_to_end());
  record("g_total", parts.total());
}

/// The pieces of a chunk. `Decays` is a ChunkDecay or a ChunkParts.
template <class Scalar, class Decays>
class Chunk {
 public:
  Chunk(Decays decay, const Program<Scalar>& program, Recorder* record)
      : decay_(std::move(decay)),
        program_(program),
        structure_(program.structure),
        value_decay_(structure_, program.mu),
        B_(program.b()),
        record_(record) {
    if (!record) return;
    record_decays(program, decay_, *record);
    if (structure_.value_decay) value_decay_.record(structure_.read_at == ReadAt::before_row, *record);
  }

  /// (I + N) U = V - (g o A) S - N+ V+
  Matrix<Scalar> writes(const Matrix<Scalar>& S) const {
    note(record_, "S_in", S);
    if (structure_.erase == Erase::none) return program_.v;
    const Matrix<Scalar>& A = program_.erase_keys();
    const std::vector<Reader> readers = program_.erase_readers();
    const Matrix<Scalar> N = decay_.scores(A, readers, B_);
    std::vector<Index> own_row(static_cast<std::size_t>(program_.rows()));  // fades what its erase has found
    std::iota(own_row.begin(), own_row.end(), 1);
    Matrix<Scalar> known = value_decay_.from_start(decay_.from_start(A, readers) * S, own_row);
    if (structure_.plain_write) {
      const Matrix<Scalar> N_plain = decay_.scores(A, readers, program_.k_plain);
      known += N_plain * program_.v_plain;
      note(record_, "N_plain", N_plain);
    }
    const Matrix<Scalar> R =
        structure_.writes_value ? Matrix<Scalar>(program_.v - known) : Matrix<Scalar>(-known);
    Matrix<Scalar> U = structure_.value_decay ? value_decay_.solve(N, R) : forward_substitution(N, R);
    note(record_, "N", N);
    note(record_, "R", R);
    note(record_, "U", U);
    return U;
  }

  /// O = (g o Q) S + P U + P+ V+
  Matrix<Scalar> outputs(const Matrix<Scalar>& S, const Matrix<Scalar>& U) const {
    if (structure_.read_at == ReadAt::end) return Matrix<Scalar>(0, program_.v.cols());
    const std::vector<Reader> readers = program_.output_readers();
    const Matrix<Scalar> P = decay_.scores(program_.q, readers, B_);
    const std::vector<Index> after = rows_before(readers);
    const Matrix<Scalar> inter = answers(S);
    Matrix<Scalar> intra = structure_.value_decay ? value_decay_.read(P, U, after) : seen_sum(P, U, after);
    if (structure_.plain_write) {
      const Matrix<Scalar> P_plain = decay_.scores(program_.q, readers, program_.k_plain);
      intra += seen_sum(P_plain, program_.v_plain, after);
      note(record_, "P_plain", P_plain);
    }
    note(record_, "P", P);
    note(record_, "O_inter", inter);
    note(record_, "O_intra", intra);
    return inter + intra;
  }

  /// (g o Q) S
  Matrix<Scalar> answers(const Matrix<Scalar>& S) const {
    const std::vector<Reader> readers = program_.output_readers();
    return value_decay_.from_start(decay_.from_start(program_.q, readers) * S, rows_before(readers));
  }

  /// S <- g_L S
  Matrix<Scalar> kept(const Matrix<Scalar>& S) const { return value_decay_.over_chunk(decay_.over_chunk(S)); }

  /// S <- g_L S + (G_L o B)^T U + (G_L o K+)^T V+
  void carry(const Matrix<Scalar>& U, Matrix<Scalar>& S) const {
    Matrix<Scalar> written = decay_.to_end(B_).transpose() * value_decay_.to_end(U);
    if (structure_.plain_write) written += decay_.to_end(program_.k_plain).transpose() * program_.v_plain;
    S = kept(S) + written;
    note(record_, "S_written", written);
    note(record_, "S_out", S);
  }

 private:
  Decays decay_;
  const Program<Scalar>& program_;
  const Structure& structure_;
  ChunkValueDecay<Scalar> value_decay_;
  Matrix<Scalar> B_;  // [L, K]
  Recorder* record_;
};

/// What `use` makes of the pieces of a chunk.
template <class Scalar, class Use>
Matrix<Scalar> with_chunk(const Program<Scalar>& program, Recorder* record, Use use) {
  if (!program.structure.parts.empty()) {
    return use(Chunk<Scalar, ChunkParts<Scalar>>(ChunkParts<Scalar>(program), program, record));
  }
  return use(Chunk<Scalar, ChunkDecay<Scalar>>(ChunkDecay<Scalar>(program.structure, program.gate), program,
                                               record));
}

}  // namespace

template <class Scalar>
Matrix<Scalar> chunk(const Program<Scalar>& program, Matrix<Scalar>& S, Recorder* record) {
  return with_chunk(program, record, [&](const auto& pieces) {
    const Matrix<Scalar> U = pieces.writes(S);
    const Matrix<Scalar> O = pieces.outputs(S, U);
    pieces.carry(U, S);
    return O;
  });
}

template <class Scalar>
Matrix<Scalar> chunk_state(const Program<Scalar>& program, Matrix<Scalar>& S, Recorder* record) {
  return with_chunk(program, record, [&](const auto& pieces) {
    const Matrix<Scalar> U = pieces.writes(S);
    pieces.carry(U, S);
    return U;
  });
}

template <class Scalar>
Matrix<Scalar> chunk_outputs(const Program<Scalar>& program, const Matrix<Scalar>& S, const Matrix<Scalar>& U,
                             Recorder* record) {
  note(record, "S_in", S);
  if (record && program.structure.erase != Erase::none) (*record)("U", U);
  return with_chunk(program, record, [&](const auto& pieces) { return pieces.outputs(S, U); });
}

template <class Scalar>
Matrix<Scalar> chunk_answers(const Program<Scalar>& program, Matrix<Scalar>& S) {
  return with_chunk(program, nullptr, [&](const auto& pieces) {
    const Matrix<Scalar> O = pieces.answers(S);
    S = pieces.kept(S);
    return O;
  });
}

double chunk_matrices(const Structure& structure) {
  const double masks = structure.decay == Decay::scalar ? 1 : 0;
  const double parts = structure.parts.empty() ? 0 : static_cast<double>(structure.part_count()) + 1;
  return masks + parts + (structure.plain_write ? 2 : 1);
}

template Matrix<double> chunk(const Program<double>&, Matrix<double>&, Recorder*);
template Matrix<float> chunk(const Program<float>&, Matrix<float>&, Recorder*);
template Matrix<double> chunk_state(const Program<double>&, Matrix<double>&, Recorder*);
template Matrix<float> chunk_state(const Program<float>&, Matrix<float>&, Recorder*);
template Matrix<double> chunk_outputs(const Program<double>&, const Matrix<double>&, const Matrix<double>&,
                                      Recorder*);
template Matrix<float> chunk_outputs(const Program<float>&, const Matrix<float>&, const Matrix<float>&,
                                     Recorder*);
template Matrix<double> chunk_answers(const Program<double>&, Matrix<double>&);
template Matrix<float> chunk_answers(const Program<float>&, Matrix<float>&);

}  // namespace palimpsest
