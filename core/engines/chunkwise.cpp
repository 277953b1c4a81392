#include "core/engines/chunkwise.h"

#include "core/engines/decay_scores.h"

namespace palimpsest {

namespace {

/// (I + N) U = R row by row: U_i = R_i - sum_{j<i} N_ij U_j.
template <class Scalar>
Matrix<Scalar> forward_substitution(const Matrix<Scalar>& N, const Matrix<Scalar>& R) {
  Matrix<Scalar> U = R;
  for (Index i = 1; i < U.rows(); ++i) U.row(i).noalias() -= N.row(i).head(i) * U.topRows(i);
  return U;
}

}  // namespace

template <class Scalar>
Matrix<Scalar> chunk(const Program<Scalar>& program, Matrix<Scalar>& S, Recorder* record) {
  const Structure& structure = program.structure;
  const ChunkDecay<Scalar> decay(structure, program.gate);
  const Matrix<Scalar> B = program.b();  // [L, K]
  Matrix<Scalar> U = program.v;          // [L, V]
  if (record) {
    (*record)("S_in", S);
    if (structure.decay == Decay::scalar) (*record)("G", decay.mask());
    if (structure.decay != Decay::none) {
      (*record)("g_in", decay.cumulative());
      (*record)("g_out", decay.remaining());
      (*record)("g_total", decay.cumulative().bottomRows(1).transpose());
    }
  }

  // (I + N) U = V - (g o K) S
  if (structure.erase == Erase::decayed) {
    Matrix<Scalar> N = decay.scores(program.k, B);
    N.template triangularView<Eigen::Upper>().setZero();
    const Matrix<Scalar> R = program.v - decay.from_start(program.k) * S;
    U = forward_substitution(N, R);
    if (record) {
      (*record)("N", N);
      (*record)("R", R);
      (*record)("U", U);
    }
  }

  // O = (g o Q) S + P U
  Matrix<Scalar> O(0, program.v.cols());
  if (structure.read_at == ReadAt::after_row) {
    const Matrix<Scalar> P = decay.scores(program.q, B);
    const Matrix<Scalar> inter = decay.from_start(program.q) * S;
    const Matrix<Scalar> intra = P * U;
    O = inter + intra;
    if (record) {
      (*record)("P", P);
      (*record)("O_inter", inter);
      (*record)("O_intra", intra);
    }
  }

  // S <- g_L S + (G_L o B)^T U
  const Matrix<Scalar> written = decay.to_end(B).transpose() * U;
  S = decay.over_chunk(S) + written;
  if (record) {
    (*record)("S_written", written);
    (*record)("S_out", S);
  }
  return O;
}

double chunk_matrices(const Structure& structure) { return structure.decay == Decay::scalar ? 2 : 1; }

template Matrix<double> chunk(const Program<double>&, Matrix<double>&, Recorder*);
template Matrix<float> chunk(const Program<float>&, Matrix<float>&, Recorder*);

}  // namespace palimpsest
