#include "core/engines/parallel.h"

#include "core/error.h"

#include "core/exponential.h"

namespace palimpsest {

namespace {

template <class Scalar>
using Table = Eigen::Array<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// What eq. P needs of the keys, queries and decays.
template <class Scalar>
struct Dense {
  Matrix<Scalar> P;          // [n, n] q_i^T Phi(i, j) b_j for j <= i (for all j when reading at the end)
  Matrix<Scalar> N;          // [n, n] k_i^T Phi(i, j) b_j for j < i
  Matrix<Scalar> G;          // [n, n] alpha_{j+1:i} for j <= i, if asked for; scalar decay only
  Table<Scalar> from_start;  // [n, 1 or K] alpha_{1:i}
  Table<Scalar> to_end;      // [n, 1 or K] alpha_{j+1:n}
};

/// Walks the reader i down the sequence and keeps, for every earlier write j, the decay in between: one more
/// factor (or summand) per token, nothing else.
template <class Scalar>
Dense<Scalar> dense_scores(const Program<Scalar>& program, const Matrix<Scalar>& B, bool keeps_mask,
                           const std::stop_token& stop) {
  const Structure& structure = program.structure;
  const bool logs = structure.gates_are_logs;
  const bool erases = structure.erase != Erase::none;
  const bool at_end = structure.read_at == ReadAt::end;
  const Scalar neutral = logs ? Scalar(0) : Scalar(1);
  const Index n = program.rows();
  const Index columns = structure.decay == Decay::key ? B.cols() : 1;

  Dense<Scalar> dense;
  dense.from_start = Table<Scalar>::Ones(n, columns);
  Table<Scalar> between = Table<Scalar>::Constant(n, columns, neutral);
  Table<Scalar> since_start = Table<Scalar>::Constant(1, columns, neutral);
  const auto factors = [&](const auto& table) -> Table<Scalar> {
    if (logs) return exponential(table);
    return table;
  };

  if (structure.decay != Decay::key) {
    dense.P.noalias() = program.q * B.transpose();
    if (erases) dense.N.noalias() = program.k * B.transpose();
  } else {
    dense.P = Matrix<Scalar>::Zero(n, n);
    if (erases) dense.N = Matrix<Scalar>::Zero(n, n);
  }
  if (keeps_mask && structure.decay == Decay::scalar) dense.G = Matrix<Scalar>::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    if (stop.stop_requested()) throw Cancelled();
    if (structure.decay != Decay::none) {
      const Table<Scalar> factor = program.gate.row(i).array();
      if (logs) {
        between.topRows(i).rowwise() += factor.row(0);
        since_start += factor;
      } else {
        between.topRows(i).rowwise() *= factor.row(0);
        since_start *= factor;
      }
      dense.from_start.row(i) = factors(since_start).row(0);
    }
    const Index seen = i + 1;
    if (structure.decay == Decay::key) {
      const Matrix<Scalar> faded = (B.topRows(seen).array() * factors(between.topRows(seen))).matrix();
      dense.P.row(i).head(seen).noalias() = program.q.row(i) * faded.transpose();
      if (erases) dense.N.row(i).head(i).noalias() = program.k.row(i) * faded.topRows(i).transpose();
    } else if (structure.decay == Decay::scalar) {
      const Table<Scalar> weight = factors(between.topRows(seen)).transpose();
      dense.P.row(i).head(seen).array() *= weight.row(0);
      if (erases) dense.N.row(i).head(seen).array() *= weight.row(0);
      if (keeps_mask) dense.G.row(i).head(seen) = weight.row(0).matrix();
    }
    if (!at_end) dense.P.row(i).tail(n - seen).setZero();
    if (erases) dense.N.row(i).tail(n - i).setZero();
  }
  dense.to_end = factors(between);
  return dense;
}

template <class Scalar>
Matrix<Scalar> faded(const Matrix<Scalar>& rows, const Table<Scalar>& factor) {
  if (factor.cols() == rows.cols()) return (rows.array() * factor).matrix();
  return (rows.array().colwise() * factor.col(0)).matrix();
}

}  // namespace

template <class Scalar>
Matrix<Scalar> parallel(const Program<Scalar>& program, Matrix<Scalar>& S, Recorder* record,
                        const std::stop_token& stop) {
  const Structure& structure = program.structure;
  const Index n = program.rows();
  if (n == 0) return Matrix<Scalar>(0, program.v.cols());
  const Matrix<Scalar> B = program.b();
  const Dense<Scalar> dense = dense_scores(program, B, record != nullptr, stop);
  if (record) {
    (*record)("S_in", S);
    (*record)("P", dense.P);
    if (structure.decay != Decay::none) {
      (*record)("g_in", dense.from_start.matrix());
      (*record)("g_out", dense.to_end.matrix());
      (*record)("g_total", dense.from_start.bottomRows(1).matrix().transpose());
      if (structure.decay == Decay::scalar) (*record)("G", dense.G);
    }
  }

  // (I + N) U = V - (g o K) S0
  Matrix<Scalar> U = program.v;
  if (structure.erase == Erase::decayed) {
    const Matrix<Scalar> R = program.v - faded(program.k, dense.from_start) * S;
    U = dense.N.template triangularView<Eigen::UnitLower>().solve(R);
    if (record) {
      (*record)("N", dense.N);
      (*record)("R", R);
      (*record)("U", U);
    }
  }

  if (stop.stop_requested()) throw Cancelled();

  // S_n = g_n S0 + (G_n o B)^T U
  const Matrix<Scalar> S0 = S;
  const Matrix<Scalar> written = faded(B, dense.to_end).transpose() * U;
  if (structure.decay == Decay::scalar) S *= dense.from_start(n - 1, 0);
  if (structure.decay == Decay::key) S.array().colwise() *= dense.from_start.row(n - 1).transpose();
  S += written;

  // O = P U + (g o Q) S0
  const Matrix<Scalar> inter = faded(program.q, dense.from_start) * S0;
  const Matrix<Scalar> intra = dense.P * U;
  if (record) {
    (*record)("O_inter", inter);
    (*record)("O_intra", intra);
    (*record)("S_written", written);
    (*record)("S_out", S);
  }
  return inter + intra;
}

template Matrix<double> parallel(const Program<double>&, Matrix<double>&, Recorder*, const std::stop_token&);
template Matrix<float> parallel(const Program<float>&, Matrix<float>&, Recorder*, const std::stop_token&);

double parallel_matrices(const Structure& structure) { return structure.erase == Erase::none ? 1 : 2; }

}  // namespace palimpsest
