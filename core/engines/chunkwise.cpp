#include "core/engines/chunkwise.h"

#include <numeric>

#include "core/engines/decay_scores.h"
#include "core/engines/parts.h"
#include "core/engines/value_decay.h"

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
  const bool reads_early = structure.erase == Erase::undecayed;
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

/// `decay` is a ChunkDecay or a ChunkParts.
template <class Scalar, class Decays>
Matrix<Scalar> chunk_with(const Decays& decay, const Program<Scalar>& program, Matrix<Scalar>& S,
                          Recorder* record) {
  const Structure& structure = program.structure;
  const ChunkValueDecay<Scalar> value_decay(structure, program.mu);
  const Matrix<Scalar> B = program.b();  // [L, K]
  Matrix<Scalar> U = program.v;          // [L, V]
  if (record) {
    (*record)("S_in", S);
    record_decays(program, decay, *record);
    if (structure.value_decay) value_decay.record(*record);
  }

  // (I + N) U = V - (g o A) S - N+ V+
  if (structure.erase != Erase::none) {
    const Matrix<Scalar>& A = program.erase_keys();
    const std::vector<Reader> readers = program.erase_readers();
    const Matrix<Scalar> N = decay.scores(A, readers, B);
    std::vector<Index> own_row(static_cast<std::size_t>(program.rows()));  // fades what its erase has found
    std::iota(own_row.begin(), own_row.end(), 1);
    Matrix<Scalar> known = value_decay.from_start(decay.from_start(A, readers) * S, own_row);
    if (structure.plain_write) {
      const Matrix<Scalar> N_plain = decay.scores(A, readers, program.k_plain);
      known += N_plain * program.v_plain;
      if (record) (*record)("N_plain", N_plain);
    }
    const Matrix<Scalar> R =
        structure.writes_value ? Matrix<Scalar>(program.v - known) : Matrix<Scalar>(-known);
    U = structure.value_decay ? value_decay.solve(N, R) : forward_substitution(N, R);
    if (record) {
      (*record)("N", N);
      (*record)("R", R);
      (*record)("U", U);
    }
  }

  // O = (g o Q) S + P U + P+ V+
  Matrix<Scalar> O(0, program.v.cols());
  if (structure.read_at == ReadAt::after_row) {
    const std::vector<Reader> readers = program.output_readers();
    const Matrix<Scalar> P = decay.scores(program.q, readers, B);
    const std::vector<Index> after = rows_before(readers);
    const Matrix<Scalar> inter = value_decay.from_start(decay.from_start(program.q, readers) * S, after);
    Matrix<Scalar> intra = structure.value_decay ? value_decay.read(P, U, after) : Matrix<Scalar>(P * U);
    if (structure.plain_write) {
      const Matrix<Scalar> P_plain = decay.scores(program.q, readers, program.k_plain);
      intra += P_plain * program.v_plain;
      if (record) (*record)("P_plain", P_plain);
    }
    O = inter + intra;
    if (record) {
      (*record)("P", P);
      (*record)("O_inter", inter);
      (*record)("O_intra", intra);
    }
  }

  // S <- g_L S + (G_L o B)^T U + (G_L o K+)^T V+
  Matrix<Scalar> written = decay.to_end(B).transpose() * value_decay.to_end(U);
  if (structure.plain_write) written += decay.to_end(program.k_plain).transpose() * program.v_plain;
  S = value_decay.over_chunk(decay.over_chunk(S)) + written;
  if (record) {
    (*record)("S_written", written);
    (*record)("S_out", S);
  }
  return O;
}

}  // namespace

template <class Scalar>
Matrix<Scalar> chunk(const Program<Scalar>& program, Matrix<Scalar>& S, Recorder* record) {
  if (!program.structure.parts.empty()) return chunk_with(ChunkParts<Scalar>(program), program, S, record);
  return chunk_with(ChunkDecay<Scalar>(program.structure, program.gate), program, S, record);
}

double chunk_matrices(const Structure& structure) {
  const double masks = structure.decay == Decay::scalar ? 1 : 0;
  const double parts = structure.parts.empty() ? 0 : static_cast<double>(structure.part_count()) + 1;
  return masks + parts + (structure.plain_write ? 2 : 1);
}

template Matrix<double> chunk(const Program<double>&, Matrix<double>&, Recorder*);
template Matrix<float> chunk(const Program<float>&, Matrix<float>&, Recorder*);

}  // namespace palimpsest
