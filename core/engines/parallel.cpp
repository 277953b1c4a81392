#include "core/engines/parallel.h"

#include "core/engines/decay_scores.h"
#include "core/error.h"
#include "core/exponential.h"

namespace palimpsest {

namespace {

template <class Scalar>
using Table = Eigen::Array<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The decays of the whole sequence as one reader after another walks down it and keeps, for every earlier
/// write j, the decay in between: one more factor (or summand) per row, nothing else.
template <class Scalar>
class Walk {
 public:
  Walk(const Program<Scalar>& program)
      : structure_(program.structure),
        gate_(program.gate),
        between_(Table<Scalar>::Constant(program.rows(), columns(program), neutral())),
        since_start_(Table<Scalar>::Constant(1, columns(program), neutral())) {}

  /// Lets row i decay everything that was there before its write.
  void decay(Index i) {
    if (structure_.decay == Decay::none) return;
    const Table<Scalar> factor = gate_.row(i).array();
    if (structure_.gates_are_logs) {
      between_.topRows(i).rowwise() += factor.row(0);
      since_start_ += factor;
    } else {
      between_.topRows(i).rowwise() *= factor.row(0);
      since_start_ *= factor;
    }
  }

  /// alpha_{1:i}: [1, 1 or K].
  Table<Scalar> since_start() const { return factors(since_start_); }

  /// alpha_{j+1:i} of the first `writes` writes: [writes, 1 or K].
  Table<Scalar> since_write(Index writes) const { return factors(between_.topRows(writes)); }

  /// What score_row() starts from: all products X Y^T at once where the decay is a factor of them.
  Matrix<Scalar> products(const Matrix<Scalar>& X, const Matrix<Scalar>& Y) const {
    if (structure_.decay == Decay::key) return Matrix<Scalar>::Zero(X.rows(), Y.rows());
    return X * Y.transpose();
  }

  /// Makes row s of products(X, Y) x_s^T Phi(i, j) y_j for the first `writes` writes, and 0 for the others.
  void score_row(Matrix<Scalar>& Z, Index s, const Matrix<Scalar>& X, const Matrix<Scalar>& Y,
                 Index writes) const {
    Z.row(s).tail(Z.cols() - writes).setZero();
    if (structure_.decay == Decay::none) return;
    const Table<Scalar> weight = since_write(writes);
    if (structure_.decay == Decay::scalar)
      Z.row(s).head(writes).array() *= weight.col(0).transpose();
    else
      Z.row(s).head(writes).noalias() = X.row(s) * (Y.topRows(writes).array() * weight).matrix().transpose();
  }

 private:
  static Index columns(const Program<Scalar>& program) {
    return program.structure.decay == Decay::key ? program.k.cols() : 1;
  }
  Scalar neutral() const { return structure_.gates_are_logs ? Scalar(0) : Scalar(1); }
  Table<Scalar> factors(const Table<Scalar>& table) const {
    if (structure_.gates_are_logs) return exponential(table);
    return table;
  }

  Structure structure_;
  const Matrix<Scalar>& gate_;
  Table<Scalar> between_;
  Table<Scalar> since_start_;
};

/// What eq. P needs of the keys, queries and decays.
template <class Scalar>
struct Dense {
  Matrix<Scalar> P;        // [R, N] q_s^T Phi(s, j) b_j for the writes j that s sees
  Matrix<Scalar> N;        // [N, N] a_i^T Phi(i, j) b_j for j < i
  Matrix<Scalar> P_plain;  // the same with k+ for b
  Matrix<Scalar> N_plain;
  Matrix<Scalar> G;          // [N, N] alpha_{j+1:i} for j <= i, if asked for; scalar decay only
  Matrix<Scalar> q_decayed;  // [R, K] Phi(s, 0) q_s
  Matrix<Scalar> a_decayed;  // [N, K] Phi(i, 0) a_i
  Table<Scalar> from_start;  // [N, 1 or K] alpha_{1:i}
  Table<Scalar> to_end;      // [N, 1 or K] alpha_{j+1:n}
};

template <class Scalar>
Matrix<Scalar> faded(const Matrix<Scalar>& rows, const Table<Scalar>& factor) {
  if (factor.cols() == rows.cols()) return (rows.array() * factor).matrix();
  return (rows.array().colwise() * factor.col(0)).matrix();
}

/// A row times a [1, 1] or [1, K] factor.
template <class Scalar>
Matrix<Scalar> faded_row(const Matrix<Scalar>& row, const Table<Scalar>& factor) {
  if (factor.cols() == row.cols()) return (row.array() * factor).matrix();
  return row * factor(0, 0);
}

template <class Scalar>
Dense<Scalar> dense_scores(const Program<Scalar>& program, const Matrix<Scalar>& B, bool keeps_mask,
                           const std::stop_token& stop) {
  const Structure& structure = program.structure;
  const bool erases = structure.erase != Erase::none;
  const bool has_plain = structure.plain_write;
  const Index n = program.rows();
  const Index R = program.reads();
  const Index columns = structure.decay == Decay::key ? B.cols() : 1;

  Walk<Scalar> walk(program);
  const Matrix<Scalar>& A = program.erase_keys();
  Dense<Scalar> dense;
  dense.P = walk.products(program.q, B);
  dense.q_decayed = program.q;
  dense.from_start = Table<Scalar>::Ones(n, columns);
  if (erases) dense.N = walk.products(A, B);
  if (erases) dense.a_decayed = A;
  if (has_plain) dense.P_plain = walk.products(program.q, program.k_plain);
  if (has_plain && erases) dense.N_plain = walk.products(A, program.k_plain);
  if (keeps_mask && structure.decay == Decay::scalar) dense.G = Matrix<Scalar>::Zero(n, n);

  const auto erase_at = [&](Index i) {  // row i reads the writes before it
    walk.score_row(dense.N, i, A, B, i);
    if (has_plain) walk.score_row(dense.N_plain, i, A, program.k_plain, i);
    dense.a_decayed.row(i) = faded_row<Scalar>(A.row(i), walk.since_start());
  };
  const auto read_at = [&](Index s, Index writes) {
    walk.score_row(dense.P, s, program.q, B, writes);
    if (has_plain) walk.score_row(dense.P_plain, s, program.q, program.k_plain, writes);
    dense.q_decayed.row(s) = faded_row<Scalar>(program.q.row(s), walk.since_start());
  };
  for (Index i = 0; i < n; ++i) {
    if (stop.stop_requested()) throw Cancelled();
    if (structure.erase == Erase::undecayed) erase_at(i);
    walk.decay(i);
    if (structure.erase == Erase::decayed) erase_at(i);
    const Index seen = i + 1;
    if (structure.read_at == ReadAt::after_row && seen % structure.rows_per_read == 0)
      read_at(i / structure.rows_per_read, seen);
    dense.from_start.row(i) = walk.since_start();
    if (dense.G.size() > 0) dense.G.row(i).head(seen) = walk.since_write(seen).col(0).transpose().matrix();
  }
  for (Index s = 0; s < R && structure.read_at == ReadAt::end; ++s) read_at(s, n);
  dense.to_end = walk.since_write(n);
  return dense;
}

/// Value decay, spec 1.2: every value channel c has its own mask M_ij = mu_{j+1:i,c} and its own solve.
template <class Scalar>
struct ChannelMask {
  Matrix<Scalar> M;  // [N, N], 0 above the diagonal
  Vector<Scalar> from_start;
  Vector<Scalar> to_end;

  ChannelMask(const Vector<Scalar>& mu) : M(Matrix<Scalar>::Zero(mu.size(), mu.size())), from_start(mu) {
    const Index n = mu.size();
    for (Index i = 0; i < n; ++i) {
      if (i > 0) M.row(i).head(i) = M.row(i - 1).head(i) * mu(i);
      if (i > 0) from_start(i) *= from_start(i - 1);
      M(i, i) = 1;
    }
    to_end = M.row(n - 1).transpose();
  }
};

/// What the rows write, U, and what the reads find of it, P U + P+ V+.
template <class Scalar>
struct Solved {
  Matrix<Scalar> U;
  Matrix<Scalar> intra;
  Matrix<Scalar> U_at_end;  // U, faded to the end of the sequence
};

template <class Scalar>
Solved<Scalar> solve(const Program<Scalar>& program, const Dense<Scalar>& dense, const Matrix<Scalar>& R,
                     const std::stop_token& stop) {
  const bool erases = program.structure.erase != Erase::none;
  Solved<Scalar> solved{.U = R, .intra = {}, .U_at_end = {}};
  if (!program.structure.value_decay) {
    if (erases) solved.U = dense.N.template triangularView<Eigen::UnitLower>().solve(R);
    solved.intra = dense.P * solved.U;
    if (program.structure.plain_write) solved.intra += dense.P_plain * program.v_plain;
    solved.U_at_end = solved.U;
    return solved;
  }
  const std::vector<Reader> readers = program.output_readers();
  solved.intra = Matrix<Scalar>::Zero(program.reads(), R.cols());
  solved.U_at_end = R;
  for (Index c = 0; c < R.cols(); ++c) {
    if (stop.stop_requested()) throw Cancelled();
    const ChannelMask<Scalar> mask(program.mu.col(c));
    if (erases) {
      const Matrix<Scalar> N = dense.N.cwiseProduct(mask.M);
      solved.U.col(c) = N.template triangularView<Eigen::UnitLower>().solve(R.col(c));
    }
    for (Index s = 0; s < program.reads(); ++s) {
      const Index row = readers[static_cast<std::size_t>(s)].writes - 1;
      solved.intra(s, c) = dense.P.row(s).cwiseProduct(mask.M.row(row)) * solved.U.col(c);
    }
    solved.U_at_end.col(c) = solved.U.col(c).cwiseProduct(mask.to_end);
  }
  return solved;
}

/// mu_{1:i}, the decay of every value channel from the start: [N, V]; ones without value decay.
template <class Scalar>
Matrix<Scalar> value_decay_from_start(const Program<Scalar>& program) {
  if (!program.structure.value_decay) return Matrix<Scalar>::Ones(program.rows(), program.v.cols());
  Matrix<Scalar> kept = program.mu;
  for (Index i = 1; i < kept.rows(); ++i) kept.row(i) = kept.row(i).cwiseProduct(kept.row(i - 1));
  return kept;
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
  const Matrix<Scalar> m_in = value_decay_from_start(program);
  if (record) {
    (*record)("S_in", S);
    (*record)("P", dense.P);
    if (structure.decay != Decay::none) {
      (*record)("g_in", dense.from_start.matrix());
      (*record)("g_out", dense.to_end.matrix());
      (*record)("g_total", dense.from_start.bottomRows(1).matrix().transpose());
      if (structure.decay == Decay::scalar) (*record)("G", dense.G);
      if (structure.erase == Erase::undecayed) {
        (*record)("g_before", one_row_earlier<Scalar>(dense.from_start.matrix(), 1));
        if (structure.decay == Decay::scalar) (*record)("G_before", one_row_earlier<Scalar>(dense.G, 0));
      }
    }
    if (structure.value_decay) {
      Matrix<Scalar> m_out(n, program.v.cols());
      for (Index c = 0; c < m_out.cols(); ++c) m_out.col(c) = ChannelMask<Scalar>(program.mu.col(c)).to_end;
      (*record)("m_in", m_in);
      (*record)("m_out", m_out);
      (*record)("m_total", m_in.bottomRows(1).transpose());
    }
    if (structure.plain_write) (*record)("P_plain", dense.P_plain);
  }

  // (I + N) U = V - (g o A) S0 - N+ V+
  Matrix<Scalar> R = program.v;
  if (structure.erase != Erase::none) {
    Matrix<Scalar> known = m_in.cwiseProduct(dense.a_decayed * S);
    if (structure.plain_write) known += dense.N_plain * program.v_plain;
    R = structure.writes_value ? Matrix<Scalar>(program.v - known) : Matrix<Scalar>(-known);
    if (record && structure.plain_write) (*record)("N_plain", dense.N_plain);
  }
  if (stop.stop_requested()) throw Cancelled();
  const Solved<Scalar> solved = solve(program, dense, R, stop);
  if (record && structure.erase != Erase::none) {
    (*record)("N", dense.N);
    (*record)("R", R);
    (*record)("U", solved.U);
  }

  // O = P U + P+ V+ + (g o Q) S0
  Matrix<Scalar> inter = dense.q_decayed * S;
  const std::vector<Reader> readers = program.output_readers();
  for (Index s = 0; s < inter.rows(); ++s)
    inter.row(s) = inter.row(s).cwiseProduct(m_in.row(readers[static_cast<std::size_t>(s)].writes - 1));

  // S_n = g_n S0 + (G_n o B)^T U + (G_n o K+)^T V+
  Matrix<Scalar> written = faded(B, dense.to_end).transpose() * solved.U_at_end;
  if (structure.plain_write) written += faded(program.k_plain, dense.to_end).transpose() * program.v_plain;
  if (structure.decay == Decay::scalar) S *= dense.from_start(n - 1, 0);
  if (structure.decay == Decay::key) S.array().colwise() *= dense.from_start.row(n - 1).transpose();
  if (structure.value_decay) S.array().rowwise() *= m_in.row(n - 1).array();
  S += written;
  if (record) {
    (*record)("O_inter", inter);
    (*record)("O_intra", solved.intra);
    (*record)("S_written", written);
    (*record)("S_out", S);
  }
  return inter + solved.intra;
}

template Matrix<double> parallel(const Program<double>&, Matrix<double>&, Recorder*, const std::stop_token&);
template Matrix<float> parallel(const Program<float>&, Matrix<float>&, Recorder*, const std::stop_token&);

double parallel_bytes(const Structure& structure, Index tokens, Precision precision) {
  const double scores = structure.erase == Erase::none ? 1 : 2;
  const double matrices = scores * (structure.plain_write ? 2 : 1) + (structure.value_decay ? 2 : 0);
  const double bytes = precision == Precision::f64 ? 8 : 4;
  const double rows = static_cast<double>(tokens * structure.rows_per_read);
  return matrices * bytes * rows * rows;
}

}  // namespace palimpsest
