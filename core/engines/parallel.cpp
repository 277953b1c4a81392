#include "core/engines/row_engines.h"

namespace palimpsest {

namespace {

template <class Scalar>
using Table = Eigen::Array<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The decays of the whole sequence as one reader after another walks down it and keeps, for every earlier
/// write j, the decay in between: one more factor (or summand) per row, nothing else.
template <class Scalar>
class DecayWalk {
 public:
  explicit DecayWalk(const Program<Scalar>& program)
      : structure_(program.structure),
        gate_(program.gate),
        between_(Table<Scalar>::Constant(program.rows(), columns(program), neutral())),
        since_start_(Table<Scalar>::Constant(1, columns(program), neutral())) {}

  /// Lets row i decay everything that was there before its write.
  void pass(Index i) {
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

  /// alpha_{1:i} o x, for one row x.
  Matrix<Scalar> from_start(const Matrix<Scalar>& x, const Reader&) const {
    const Table<Scalar> factor = since_start();
    return factor.cols() == x.cols() ? Matrix<Scalar>((x.array() * factor).matrix())
                                     : Matrix<Scalar>(x * factor(0, 0));
  }

  /// alpha_{j+1:i} o Y_j of all writes: [n, K].
  Matrix<Scalar> to_end(const Matrix<Scalar>& Y) const {
    const Table<Scalar> factor = since_write(Y.rows());
    if (factor.cols() == Y.cols()) return (Y.array() * factor).matrix();
    return (Y.array().colwise() * factor.col(0)).matrix();
  }

  /// alpha_{1:i} o S.
  Matrix<Scalar> carried(const Matrix<Scalar>& S) const {
    const Table<Scalar> factor = since_start();
    if (structure_.decay == Decay::key) return (S.array().colwise() * factor.row(0).transpose()).matrix();
    return S * factor(0, 0);
  }

  /// What score_row() starts from: all products X Y^T at once where the decay is a factor of them.
  Matrix<Scalar> products(const Matrix<Scalar>& X, const Matrix<Scalar>& Y) const {
    if (structure_.decay == Decay::key) return Matrix<Scalar>::Zero(X.rows(), Y.rows());
    return X * Y.transpose();
  }

  /// Makes row s of products(X, Y) x_s^T Phi(i, j) y_j for the writes that the reader sees, 0 for the others.
  void score_row(Matrix<Scalar>& Z, Index s, const Matrix<Scalar>& X, const Matrix<Scalar>& Y,
                 const Reader& reader) const {
    const Index writes = reader.writes;
    Z.row(s).tail(Z.cols() - writes).setZero();
    if (structure_.decay == Decay::none) return;
    const Table<Scalar> weight = since_write(writes);
    if (structure_.decay == Decay::scalar)
      Z.row(s).head(writes).array() *= weight.col(0).transpose();
    else
      Z.row(s).head(writes).noalias() = X.row(s) * (Y.topRows(writes).array() * weight).matrix().transpose();
  }

  /// alpha_{1:i}: [1, 1 or K].
  Table<Scalar> since_start() const { return factors(since_start_); }

  /// alpha_{j+1:i} of the first `writes` writes: [writes, 1 or K].
  Table<Scalar> since_write(Index writes) const { return factors(between_.topRows(writes)); }

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

/// The same walk over a state in parts: what lies in between is a product of transitions.
template <class Scalar>
class PartsWalk {
 public:
  explicit PartsWalk(const Program<Scalar>& program)
      : program_(program),
        since_write_(Matrix<Scalar>::Zero(program.rows(), program.structure.part_count())),
        since_start_(
            Matrix<Scalar>::Identity(program.structure.part_count(), program.structure.part_count())) {}

  void pass(Index i) {
    const Matrix<Scalar> T = program_.transition_of(i);
    since_write_.topRows(i) *= T.transpose();
    since_write_.row(i) = program_.inject.row(i);
    since_start_ = T * since_start_;
  }

  Matrix<Scalar> from_start(const Matrix<Scalar>& x, const Reader& reader) const {
    return spread<Scalar>(weights_from_start(reader), x);
  }
  Matrix<Scalar> to_end(const Matrix<Scalar>& Y) const { return spread(since_write_, Y); }
  Matrix<Scalar> carried(const Matrix<Scalar>& S) const { return mixed(since_start_, S); }
  Matrix<Scalar> products(const Matrix<Scalar>& X, const Matrix<Scalar>& Y) const {
    return X * Y.transpose();
  }

  void score_row(Matrix<Scalar>& Z, Index s, const Matrix<Scalar>&, const Matrix<Scalar>&,
                 const Reader& reader) const {
    Z.row(s) = Z.row(s).cwiseProduct(weights(reader));
  }

  /// The weight of every write for a reader: [1, n].
  Matrix<Scalar> weights(const Reader& reader) const {
    Matrix<Scalar> row = Matrix<Scalar>::Zero(1, since_write_.rows());
    row.leftCols(reader.writes) = sight_of<Scalar>(reader) * since_write_.topRows(reader.writes).transpose();
    return row;
  }

  /// The weight of every part of the initial state for a reader: [1, p].
  Matrix<Scalar> weights_from_start(const Reader& reader) const {
    return sight_of<Scalar>(reader) * since_start_;
  }

  const Matrix<Scalar>& weights_to_end() const { return since_write_; }
  const Matrix<Scalar>& total() const { return since_start_; }

 private:
  const Program<Scalar>& program_;
  Matrix<Scalar> since_write_;  // [n, p]: T_i .. T_{j+2} c_j
  Matrix<Scalar> since_start_;  // [p, p]: T_i .. T_1
};

/// The terms of eq. P from the keys, queries, decays and the initial state.
template <class Scalar>
struct Dense {
  Matrix<Scalar> P;        // [R, N] q_s^T Phi(s, j) b_j for the writes j that s sees
  Matrix<Scalar> N;        // [N, N] a_i^T Phi(i, j) b_j for j < i
  Matrix<Scalar> P_plain;  // the same with k+ for b
  Matrix<Scalar> N_plain;
  Matrix<Scalar> q_decayed;  // [R, K] Phi(s, 0) q_s
  Matrix<Scalar> a_decayed;  // [N, K] Phi(i, 0) a_i
  Matrix<Scalar> b_to_end;   // [N, K] Phi(N, i) b_i
  Matrix<Scalar> k_plain_to_end;
  Matrix<Scalar> S_kept;  // [K, V] Phi(N, 0) S_0
};

/// The decays of a whole walk, for a trace.
template <class Scalar>
void record_decays(DecayWalk<Scalar> walk, const Program<Scalar>& program, Recorder& record) {
  const Structure& structure = program.structure;
  if (structure.decay == Decay::none) return;
  const Index n = program.rows();
  Matrix<Scalar> G = Matrix<Scalar>::Zero(n, n);
  Matrix<Scalar> from_start(n, walk.since_start().cols());
  for (Index i = 0; i < n; ++i) {
    walk.pass(i);
    from_start.row(i) = walk.since_start().row(0).matrix();
    if (structure.decay == Decay::scalar)
      G.row(i).head(i + 1) = walk.since_write(i + 1).col(0).transpose().matrix();
  }
  const bool reads_early = structure.reads_early();
  record_fades<Scalar>("g", reads_early, from_start, walk.since_write(n).matrix(), record);
  if (structure.decay == Decay::scalar) record("G", G);
  if (structure.decay == Decay::scalar && reads_early) record("G_before", one_row_earlier<Scalar>(G, 0));
}

/// The weights of a state in parts for some readers: [R, n] of the writes as `G`, [R, p] of the parts as `g`.
template <class Scalar>
PartsWalk<Scalar> record_weights(PartsWalk<Scalar> walk, const std::vector<Reader>& readers,
                                 const char* of_writes, const char* of_parts, Index n, Recorder& record) {
  Matrix<Scalar> G(std::ssize(readers), n);
  Matrix<Scalar> from_start(std::ssize(readers), walk.total().cols());
  const auto served = by_time(readers, n);
  for (Index rows = 0; rows <= n; ++rows) {
    if (rows > 0) walk.pass(rows - 1);
    for (const Index s : entry(served, rows)) {
      G.row(s) = walk.weights(entry(readers, s));
      from_start.row(s) = walk.weights_from_start(entry(readers, s));
    }
  }
  record(of_writes, G);
  record(of_parts, from_start);
  return walk;
}

template <class Scalar>
void record_decays(const PartsWalk<Scalar>& walk, const Program<Scalar>& program, Recorder& record) {
  const PartsWalk<Scalar> end =
      record_weights(walk, program.output_readers(), "G", "g_in", program.rows(), record);
  record("g_out", end.weights_to_end());
  record("g_total", end.total());
  if (program.structure.erase != Erase::none)
    record_weights(walk, program.erase_readers(), "G_erase", "g_erase", program.rows(), record);
}

/// Walks down the whole sequence; every reader reads when its turn has come.
template <class Scalar, class Walking>
Dense<Scalar> walked(Walking walk, const Program<Scalar>& program, const Matrix<Scalar>& B,
                     const Matrix<Scalar>& S, Recorder* record, const std::stop_token& stop) {
  if (record) record_decays(walk, program, *record);
  const bool erases = program.structure.erase != Erase::none;
  const bool has_plain = program.structure.plain_write;
  const Index n = program.rows();
  const Index wide = program.structure.part_count() * B.cols();
  const Matrix<Scalar>& A = program.erase_keys();

  Dense<Scalar> dense;
  dense.P = walk.products(program.q, B);
  dense.q_decayed.resize(program.reads(), wide);
  if (erases) dense.N = walk.products(A, B);
  if (erases) dense.a_decayed.resize(n, wide);
  if (has_plain) dense.P_plain = walk.products(program.q, program.k_plain);
  if (has_plain && erases) dense.N_plain = walk.products(A, program.k_plain);

  const std::vector<Reader> reads = program.output_readers();
  const std::vector<Reader> erase_reads = erases ? program.erase_readers() : std::vector<Reader>();
  const auto reads_after = by_time(reads, n);
  const auto erases_after = by_time(erase_reads, n);
  const auto serve = [&](Index rows) {
    for (const Index i : entry(erases_after, rows)) {
      const Reader& reader = entry(erase_reads, i);
      walk.score_row(dense.N, i, A, B, reader);
      if (has_plain) walk.score_row(dense.N_plain, i, A, program.k_plain, reader);
      dense.a_decayed.row(i) = walk.from_start(A.row(i), reader);
    }
    for (const Index s : entry(reads_after, rows)) {
      const Reader& reader = entry(reads, s);
      walk.score_row(dense.P, s, program.q, B, reader);
      if (has_plain) walk.score_row(dense.P_plain, s, program.q, program.k_plain, reader);
      dense.q_decayed.row(s) = walk.from_start(program.q.row(s), reader);
    }
  };
  serve(0);
  for (Index i = 0; i < n; ++i) {
    stop_if_asked(stop);
    walk.pass(i);
    serve(i + 1);
  }
  dense.b_to_end = walk.to_end(B);
  if (has_plain) dense.k_plain_to_end = walk.to_end(program.k_plain);
  dense.S_kept = walk.carried(S);
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

/// What the rows write, U, and what the outputs read of it, P U + P+ V+.
template <class Scalar>
struct Solved {
  Matrix<Scalar> U;
  Matrix<Scalar> intra;
  Matrix<Scalar> U_at_end;  // U, decayed to the end of the sequence
};

template <class Scalar>
Solved<Scalar> solve(const Program<Scalar>& program, const Dense<Scalar>& dense, const Matrix<Scalar>& R,
                     const std::stop_token& stop) {
  const bool erases = program.structure.erase != Erase::none;
  const std::vector<Reader> readers = program.output_readers();
  Solved<Scalar> solved{.U = R, .intra = {}, .U_at_end = {}};
  if (!program.structure.value_decay) {
    if (erases) solved.U = dense.N.template triangularView<Eigen::UnitLower>().solve(R);
    solved.intra = seen_sum<Scalar>(dense.P, solved.U, readers);
    if (program.structure.plain_write)
      solved.intra += seen_sum<Scalar>(dense.P_plain, program.v_plain, readers);
    solved.U_at_end = solved.U;
    return solved;
  }
  solved.intra = Matrix<Scalar>::Zero(program.reads(), R.cols());
  solved.U_at_end = R;
  for (Index c = 0; c < R.cols(); ++c) {
    stop_if_asked(stop);
    const ChannelMask<Scalar> mask(program.mu.col(c));
    if (erases) {
      const Matrix<Scalar> N = dense.N.cwiseProduct(mask.M);
      solved.U.col(c) = N.template triangularView<Eigen::UnitLower>().solve(R.col(c));
    }
    for (Index s = 0; s < program.reads(); ++s) {
      const Index seen = entry(readers, s).writes;
      if (seen == 0) continue;
      const auto weights = dense.P.row(s).head(seen).cwiseProduct(mask.M.row(seen - 1).head(seen));
      solved.intra(s, c) = weights * solved.U.col(c).head(seen);
    }
    solved.U_at_end.col(c) = solved.U.col(c).cwiseProduct(mask.to_end);
  }
  return solved;
}

}  // namespace

template <class Scalar>
Matrix<Scalar> parallel(const Program<Scalar>& program, Matrix<Scalar>& S, Recorder* record,
                        const std::stop_token& stop) {
  const Structure& structure = program.structure;
  const Index n = program.rows();
  if (n == 0) return Matrix<Scalar>(0, program.v.cols());
  const Matrix<Scalar> B = program.b();
  const Dense<Scalar> dense = structure.parts.empty()
                                  ? walked(DecayWalk<Scalar>(program), program, B, S, record, stop)
                                  : walked(PartsWalk<Scalar>(program), program, B, S, record, stop);
  Matrix<Scalar> m_in = program.mu;  // mu_{1:i}, the decay of every value channel from the start: [N, V]
  for (Index i = 1; i < m_in.rows(); ++i) m_in.row(i) = m_in.row(i).cwiseProduct(m_in.row(i - 1));
  if (record) {
    (*record)("S_in", S);
    (*record)("P", dense.P);
    if (structure.value_decay) {
      Matrix<Scalar> m_out(n, program.v.cols());
      for (Index c = 0; c < m_out.cols(); ++c) m_out.col(c) = ChannelMask<Scalar>(program.mu.col(c)).to_end;
      record_fades("m", structure.read_at == ReadAt::before_row, m_in, m_out, *record);
    }
    if (structure.plain_write) (*record)("P_plain", dense.P_plain);
  }

  // (I + N) U = V - (g o A) S0 - N+ V+
  Matrix<Scalar> R = program.v;
  if (structure.erase != Erase::none) {
    Matrix<Scalar> known = dense.a_decayed * S;
    if (structure.value_decay) known = known.cwiseProduct(m_in);
    if (structure.plain_write) known += dense.N_plain * program.v_plain;
    R = structure.writes_value ? Matrix<Scalar>(program.v - known) : Matrix<Scalar>(-known);
    if (record && structure.plain_write) (*record)("N_plain", dense.N_plain);
  }
  stop_if_asked(stop);
  const Solved<Scalar> solved = solve(program, dense, R, stop);
  if (record && structure.erase != Erase::none) {
    (*record)("N", dense.N);
    (*record)("R", R);
    (*record)("U", solved.U);
  }

  // O = P U + P+ V+ + (g o Q) S0
  Matrix<Scalar> inter = dense.q_decayed * S;
  const std::vector<Reader> readers = program.output_readers();
  for (Index s = 0; s < inter.rows() && structure.value_decay; ++s) {
    const Index writes = entry(readers, s).writes;
    if (writes > 0) inter.row(s) = inter.row(s).cwiseProduct(m_in.row(writes - 1));
  }

  // S_n = g_n S0 + (G_n o B)^T U + (G_n o K+)^T V+
  Matrix<Scalar> written = dense.b_to_end.transpose() * solved.U_at_end;
  if (structure.plain_write) written += dense.k_plain_to_end.transpose() * program.v_plain;
  S = dense.S_kept;
  if (structure.value_decay) S.array().rowwise() *= m_in.row(n - 1).array();
  S += written;
  note(record, "O_inter", inter);
  note(record, "O_intra", solved.intra);
  note(record, "S_written", written);
  note(record, "S_out", S);
  return inter + solved.intra;
}

template Matrix<double> parallel(const Program<double>&, Matrix<double>&, Recorder*, const std::stop_token&);
template Matrix<float> parallel(const Program<float>&, Matrix<float>&, Recorder*, const std::stop_token&);

double parallel_matrices(const Structure& structure) {
  const double scores = structure.erase == Erase::none ? 1 : 2;
  return scores * (structure.plain_write ? 2 : 1) + (structure.value_decay ? 2 : 0);
}

}  // namespace palimpsest
