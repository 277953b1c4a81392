#pragma once

#include "core/engines/row_engines.h"
#include "core/numbers/products.h"

// The equations of engine 2, spec 2.3. `Products` multiplies (core/numbers/products.h).

namespace palimpsest {

/// The decays inside one chunk of L rows, spec 2.1: only running products (or, with log gates, running sums),
/// so exact zeros are allowed and nothing overflows. For readers see Reader.
template <class Scalar, class Products>
struct ChunkDecay {
  Structure structure;
  Matrix<Scalar> gate;
  Matrix<Scalar> mask;        // [L, L]: alpha_{j+1:i} for j <= i, 0 above, where all channels decay alike
  Matrix<Scalar> cumulative;  // alpha_{1:i}: [L, 1] or [L, K]
  Matrix<Scalar> remaining;   // alpha_{j+1:L}: [L, 1] or [L, K]

  ChunkDecay(const Structure& structure_, const Matrix<Scalar>& gate_) : structure(structure_), gate(gate_) {
    if (structure.decay == Decay::none) return;
    const Index L = gate.rows();
    const bool logs = structure.gates_are_logs;

    cumulative = gate;
    remaining = Matrix<Scalar>::Constant(L, gate.cols(), logs ? Scalar(0) : Scalar(1));
    for (Index i = 1; i < L; ++i) {
      const Index j = L - 1 - i;
      if (logs) {
        cumulative.row(i) += cumulative.row(i - 1);
        remaining.row(j) = remaining.row(j + 1) + gate.row(j + 1);
      } else {
        cumulative.row(i) = cumulative.row(i).cwiseProduct(cumulative.row(i - 1));
        remaining.row(j) = remaining.row(j + 1).cwiseProduct(gate.row(j + 1));
      }
    }
    if (logs) {
      cumulative = exponential(cumulative.array()).matrix();
      remaining = exponential(remaining.array()).matrix();
    }

    if (structure.decay == Decay::scalar) {
      mask = Matrix<Scalar>::Zero(L, L);
      for (Index i = 0; i < L; ++i) {
        if (i > 0 && logs) mask.row(i).head(i) = mask.row(i - 1).head(i).array() + gate(i, 0);
        if (i > 0 && !logs) mask.row(i).head(i) = mask.row(i - 1).head(i) * gate(i, 0);
        mask(i, i) = logs ? Scalar(0) : Scalar(1);
      }
      if (logs) {
        for (Index i = 0; i < L; ++i) mask.row(i).head(i + 1) = exponential(mask.row(i).head(i + 1).array());
      }
    }
  }

  /// Scores Z_sj = sum_d X_sd Y_jd alpha_{j+1:decays(s),d} for the writes j that reader s sees, else 0.
  /// X: [R, K], Y: [L, K]; [R, L].
  Matrix<Scalar> scores(const Matrix<Scalar>& X, std::span<const Reader> readers,
                        const Matrix<Scalar>& Y) const {
    if (structure.decay == Decay::key) return key_scores(X, readers, Y);
    Matrix<Scalar> Z = Products::product(X, Y.transpose());
    for (Index s = 0; s < Z.rows(); ++s) {
      const auto& [decays, writes, sight] = entry(readers, s);
      if (structure.decay == Decay::scalar && decays > 0) Z.row(s).array() *= mask.row(decays - 1).array();
      Z.row(s).tail(Z.cols() - writes).setZero();
    }
    return Z;
  }

  /// Row s decayed from the chunk's start to its reader: alpha_{1:decays(s)} o X_s. X: [R, K].
  Matrix<Scalar> from_start(const Matrix<Scalar>& X, std::span<const Reader> readers) const {
    if (structure.decay == Decay::none) return X;
    Matrix<Scalar> decayed = X;
    for (Index s = 0; s < X.rows(); ++s) {
      const Index decays = entry(readers, s).decays;
      if (decays == 0) continue;
      if (structure.decay == Decay::scalar)
        decayed.row(s) *= cumulative(decays - 1, 0);
      else
        decayed.row(s).array() *= cumulative.row(decays - 1).array();
    }
    return decayed;
  }

  /// Row j decayed from its write to the chunk's end: alpha_{j+1:L} o Y_j. Y: [L, K].
  Matrix<Scalar> to_end(const Matrix<Scalar>& Y) const {
    if (structure.decay == Decay::none) return Y;
    if (remaining.cols() == Y.cols()) return Y.cwiseProduct(remaining);
    return (Y.array().colwise() * remaining.col(0).array()).matrix();
  }

  /// The state decayed over the whole chunk: alpha_{1:L} o S. S: [K, V].
  Matrix<Scalar> over_chunk(const Matrix<Scalar>& S) const {
    const Index last = cumulative.rows() - 1;
    if (structure.decay == Decay::none || last < 0) return S;
    if (structure.decay == Decay::scalar) return S * cumulative(last, 0);
    return (S.array().colwise() * cumulative.row(last).transpose().array()).matrix();
  }

  /// Spec 2.1: pairs inside a sub-chunk directly, pairs across its start sigma as (prefix from sigma to i)
  /// times (suffix from j to sigma), a matrix product.
  Matrix<Scalar> key_scores(const Matrix<Scalar>& X, std::span<const Reader> readers,
                            const Matrix<Scalar>& Y) const {
    const Index L = gate.rows();
    const Index K = X.cols();
    const bool logs = structure.gates_are_logs;
    using Row = Eigen::Array<Scalar, 1, Eigen::Dynamic>;
    const Scalar neutral = logs ? Scalar(0) : Scalar(1);
    const auto combine = [&](auto&& rows, const auto& factor) {  // decay some rows by one more factor
      if (logs)
        rows.rowwise() += factor;
      else
        rows.rowwise() *= factor;
    };
    const auto decayed = [&](const auto& values, const auto& weights) -> Matrix<Scalar> {
      if (logs) return (values.array() * exponential(weights)).matrix();
      return (values.array() * weights).matrix();
    };
    const auto readers_after = by_time(readers, L);
    Matrix<Scalar> Z = Matrix<Scalar>::Zero(X.rows(), L);
    // weight row j: the decay from write j to the start of the present sub-chunk
    Eigen::Array<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> weight(L, K);
    for (Index start = 0; start < L; start += sub_chunk_size) {
      const Index end = std::min(start + sub_chunk_size, L);
      Row prefix = Row::Constant(K, neutral);
      std::vector<Index> inside;  // the readers of this sub-chunk
      std::vector<Row> prefixed;  // their vectors, decayed from its start
      for (Index i = start; i < end; ++i) {
        const Row factor = gate.row(i).array();
        combine(prefix, factor);
        if (i > start) combine(weight.middleRows(start, i - start), factor);
        weight.row(i) = neutral;
        const Index writes = i - start + 1;
        for (const Index s : entry(readers_after, i + 1)) {
          inside.push_back(s);
          prefixed.push_back(decayed(X.row(s), prefix).array());
          Z.row(s).segment(start, writes).noalias() =
              X.row(s) * decayed(Y.middleRows(start, writes), weight.middleRows(start, writes)).transpose();
        }
      }
      if (start > 0) {
        Matrix<Scalar> X_prefixed(static_cast<Index>(inside.size()), K);
        for (std::size_t i = 0; i < inside.size(); ++i)
          X_prefixed.row(static_cast<Index>(i)) = prefixed[i].matrix();
        const Matrix<Scalar> across =
            Products::product(X_prefixed, decayed(Y.topRows(start), weight.topRows(start)).transpose());
        for (std::size_t i = 0; i < inside.size(); ++i)
          Z.row(inside[i]).head(start) = across.row(static_cast<Index>(i));
        combine(weight.topRows(start), prefix);
      }
    }
    for (Index s = 0; s < Z.rows(); ++s) Z.row(s).tail(L - entry(readers, s).writes).setZero();
    return Z;
  }
};

/// ChunkDecay for a state in parts (spec 1.1 eq. U', 3.9): how a write of one chunk of L rows reaches a later
/// reader through the transitions between them. Running products of [p, p] matrices only.
template <class Scalar, class Products>
class ChunkParts {
 public:
  explicit ChunkParts(const Program<Scalar>& program)
      : p_(program.structure.part_count()),
        since_write_(Matrix<Scalar>::Zero((program.rows() + 1) * p_, program.rows())),
        from_start_(Matrix<Scalar>::Zero((program.rows() + 1) * p_, p_)) {
    from_start_.topRows(p_).setIdentity();
    for (Index i = 0; i < program.rows(); ++i) {
      const Matrix<Scalar> T = program.transition_of(i);
      for (Index part = 0; part < p_; ++part) {
        const Index after = (i + 1) * p_ + part;
        add_up(T.row(part), written(i, i), since_write_.row(after).head(i));
        since_write_(after, i) = program.inject(i, part);
        add_up(T.row(part), carried(i), from_start_.row(after));
      }
    }
    to_end_ = since_write_.bottomRows(p_).transpose();
  }

  /// [R, L]: h_s^T T_{decays(s)} .. T_{j+2} c_j, the weight of write j for reader s; 0 where it is not seen.
  Matrix<Scalar> mask(std::span<const Reader> readers) const {
    Matrix<Scalar> G = Matrix<Scalar>::Zero(static_cast<Index>(readers.size()), to_end_.rows());
    for (Index s = 0; s < G.rows(); ++s) {
      const Reader& reader = entry(readers, s);
      add_up(sight_of<Scalar>(reader), written(reader.decays, reader.writes), G.row(s).head(reader.writes));
    }
    return G;
  }

  /// [R, p]: h_s^T T_{decays(s)} .. T_1, the weight of every part carried in.
  Matrix<Scalar> weights_from_start(std::span<const Reader> readers) const {
    Matrix<Scalar> weights(static_cast<Index>(readers.size()), p_);
    for (Index s = 0; s < weights.rows(); ++s) {
      const Reader& reader = entry(readers, s);
      add_up(sight_of<Scalar>(reader), carried(reader.decays), weights.row(s));
    }
    return weights;
  }

  /// [L, p]: T_L .. T_{j+2} c_j, where write j ends up.
  const Matrix<Scalar>& weights_to_end() const { return to_end_; }

  /// [p, p]: T_L .. T_1.
  Matrix<Scalar> total() const { return from_start_.bottomRows(p_); }

  /// As in ChunkDecay. Vectors are spread over the parts: [R, p K], as rows of the whole state.
  Matrix<Scalar> scores(const Matrix<Scalar>& X, std::span<const Reader> readers,
                        const Matrix<Scalar>& Y) const {
    return Products::product(X, Y.transpose()).cwiseProduct(mask(readers));
  }
  Matrix<Scalar> from_start(const Matrix<Scalar>& X, std::span<const Reader> readers) const {
    return spread(weights_from_start(readers), X);
  }
  Matrix<Scalar> to_end(const Matrix<Scalar>& Y) const { return spread(to_end_, Y); }
  Matrix<Scalar> over_chunk(const Matrix<Scalar>& S) const { return mixed(total(), S); }

 private:
  /// What of the first writes, or of the parts carried in, there is in a part after `rows` rows.
  auto written(Index rows, Index writes) const {
    return [this, rows, writes](Index part) { return since_write_.row(rows * p_ + part).head(writes); };
  }
  auto carried(Index rows) const {
    return [this, rows](Index part) { return from_start_.row(rows * p_ + part); };
  }

  Index p_;
  Matrix<Scalar> since_write_;  // [(L + 1) p, L]: T_i .. T_{j+2} c_j after i rows, by parts
  Matrix<Scalar> from_start_;   // [(L + 1) p, p]: T_i .. T_1
  Matrix<Scalar> to_end_;
};

/// Decays of the value channels inside one chunk of L rows, spec 2.5: every channel has its own mask, so what
/// was written decays row after row by running products; nothing is divided. Without value decay every
/// function returns its argument.
template <class Scalar, class Products>
class ChunkValueDecay {
 public:
  ChunkValueDecay(const Structure& structure, const Matrix<Scalar>& mu)
      : exists_(structure.value_decay), mu_(mu), decay_({.decay = exists_ ? Decay::key : Decay::none}, mu) {}

  /// mu_{1:i} o X_s for the reads X [R, V] of the carried state; read s comes after i = after(s) rows.
  template <class After>
  Matrix<Scalar> from_start(const Matrix<Scalar>& X, After after) const {
    if (!exists_) return X;
    Matrix<Scalar> faded = X;
    for (Index s = 0; s < X.rows(); ++s) {
      const Index rows = after(s);
      if (rows > 0) faded.row(s) = faded.row(s).cwiseProduct(decay_.cumulative.row(rows - 1));
    }
    return faded;
  }

  /// Row j decayed from its write to the chunk's end: mu_{j+1:L} o U_j. U: [L, V].
  Matrix<Scalar> to_end(const Matrix<Scalar>& U) const { return decay_.to_end(U); }

  /// The state decayed over the whole chunk: S Diag(mu_{1:L}). S: [K, V].
  Matrix<Scalar> over_chunk(const Matrix<Scalar>& S) const {
    if (!exists_ || decay_.cumulative.rows() == 0) return S;
    return (S.array().rowwise() * decay_.cumulative.row(decay_.cumulative.rows() - 1).array()).matrix();
  }

  /// U_i = R_i - sum_{j<i} N_ij (mu_{j+1:i} o U_j). N: [L, L], R: [L, V].
  Matrix<Scalar> solve(const Matrix<Scalar>& N, const Matrix<Scalar>& R) const {
    Matrix<Scalar> U = R;
    Matrix<Scalar> faded(R.rows(), R.cols());  // row j: U_j decayed to the present row
    for (Index i = 0; i < R.rows(); ++i) {
      faded.topRows(i).array().rowwise() *= mu_.row(i).array();
      U.row(i).noalias() -= N.row(i).head(i) * faded.topRows(i);
      faded.row(i) = U.row(i);
    }
    return U;
  }

  /// O_s = sum_{j<=i} P_sj (mu_{j+1:i} o U_j), i the rows before output s. P: [R, L], U: [L, V].
  Matrix<Scalar> read(const Matrix<Scalar>& P, const Matrix<Scalar>& U,
                      std::span<const Reader> readers) const {
    const auto reads_after = by_time(readers, U.rows());
    Matrix<Scalar> O = Matrix<Scalar>::Zero(P.rows(), U.cols());
    Matrix<Scalar> faded(U.rows(), U.cols());
    for (Index i = 0; i < U.rows(); ++i) {
      faded.topRows(i).array().rowwise() *= mu_.row(i).array();
      faded.row(i) = U.row(i);
      for (const Index s : entry(reads_after, i + 1))
        O.row(s).noalias() = P.row(s).head(i + 1) * faded.topRows(i + 1);
    }
    return O;
  }

  /// Hands mu_{1:i}, mu_{j+1:L} and mu_{1:L} to a trace; mu_{1:i-1} too where outputs read before their row.
  void record(bool reads_before, Recorder& record) const {
    record_fades("m", reads_before, decay_.cumulative, decay_.remaining, record);
  }

 private:
  bool exists_;
  Matrix<Scalar> mu_;
  ChunkDecay<Scalar, Products> decay_;
};

template <class Scalar, class Products>
void record_decays(const Program<Scalar>& program, const ChunkDecay<Scalar, Products>& decay,
                   Recorder& record) {
  const Structure& structure = program.structure;
  const bool reads_early = structure.reads_early();
  if (structure.decay == Decay::scalar) {
    record("G", decay.mask);
    if (reads_early) record("G_before", one_row_earlier<Scalar>(decay.mask, 0));
  }
  if (structure.decay != Decay::none)
    record_fades("g", reads_early, decay.cumulative, decay.remaining, record);
}

template <class Scalar, class Products>
void record_decays(const Program<Scalar>& program, const ChunkParts<Scalar, Products>& parts,
                   Recorder& record) {
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
template <class Scalar, class Products, class Decays>
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
    const auto own_row = [](Index i) { return i + 1; };  // decays what its erase has read
    Matrix<Scalar> known =
        value_decay_.from_start(Products::product(decay_.from_start(A, readers), S), own_row);
    if (structure_.plain_write) {
      const Matrix<Scalar> N_plain = decay_.scores(A, readers, program_.k_plain);
      Products::add_product(known, N_plain, program_.v_plain);
      note(record_, "N_plain", N_plain);
    }
    const Matrix<Scalar> R =
        structure_.writes_value ? Matrix<Scalar>(program_.v - known) : Matrix<Scalar>(-known);
    Matrix<Scalar> U =
        structure_.value_decay ? value_decay_.solve(N, R) : Products::forward_substitution(N, R);
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
    const Matrix<Scalar> inter =
        value_decay_.from_start(Products::product(decay_.from_start(program_.q, readers), S),
                                [&](Index s) { return entry(readers, s).writes; });
    Matrix<Scalar> intra =
        structure_.value_decay ? value_decay_.read(P, U, readers) : seen_sum<Scalar, Products>(P, U, readers);
    if (structure_.plain_write) {
      const Matrix<Scalar> P_plain = decay_.scores(program_.q, readers, program_.k_plain);
      intra += seen_sum<Scalar, Products>(P_plain, program_.v_plain, readers);
      note(record_, "P_plain", P_plain);
    }
    note(record_, "P", P);
    note(record_, "O_inter", inter);
    note(record_, "O_intra", intra);
    return inter + intra;
  }

  /// S <- g_L S + (G_L o B)^T U + (G_L o K+)^T V+
  void carry(const Matrix<Scalar>& U, Matrix<Scalar>& S) const {
    Matrix<Scalar> written = Products::product(decay_.to_end(B_).transpose(), value_decay_.to_end(U));
    if (structure_.plain_write) {
      const Matrix<Scalar> keys = decay_.to_end(program_.k_plain);
      Products::add_product(written, keys.transpose(), program_.v_plain);
    }
    S = value_decay_.over_chunk(decay_.over_chunk(S)) + written;
    note(record_, "S_written", written);
    note(record_, "S_out", S);
  }

 private:
  Decays decay_;
  const Program<Scalar>& program_;
  const Structure& structure_;
  ChunkValueDecay<Scalar, Products> value_decay_;
  Matrix<Scalar> B_;  // [L, K]
  Recorder* record_;
};

/// Returns `use` of the pieces of a chunk.
template <class Products, class Scalar, class Use>
Matrix<Scalar> with_chunk(const Program<Scalar>& program, Recorder* record, Use use) {
  using Parts = ChunkParts<Scalar, Products>;
  using Decays = ChunkDecay<Scalar, Products>;
  if (!program.structure.parts.empty())
    return use(Chunk<Scalar, Products, Parts>(Parts(program), program, record));
  return use(Chunk<Scalar, Products, Decays>(Decays(program.structure, program.gate), program, record));
}

/// chunk() with `Products`.
template <class Products, class Scalar>
Matrix<Scalar> chunk_by(const Program<Scalar>& program, Matrix<Scalar>& S, Recorder* record = nullptr) {
  return with_chunk<Products>(program, record, [&](const auto& pieces) {
    const Matrix<Scalar> U = pieces.writes(S);
    const Matrix<Scalar> O = pieces.outputs(S, U);
    pieces.carry(U, S);
    return O;
  });
}

}  // namespace palimpsest
