#include "core/engines/chunk_decays.h"

#include <algorithm>

#include "core/numbers/exponential.h"

namespace palimpsest {

namespace {

/// Multiplies row i by factor_i: [L, 1] one number a row, [L, K] one a channel.
template <class Scalar>
Matrix<Scalar> scale_rows(const Matrix<Scalar>& X, const Matrix<Scalar>& factor) {
  if (factor.cols() == 1 && X.cols() != 1) return (X.array().colwise() * factor.col(0).array()).matrix();
  return X.cwiseProduct(factor);
}

template <class Scalar>
Matrix<Scalar> as_row(const std::vector<double>& sight) {
  Matrix<Scalar> row(1, static_cast<Index>(sight.size()));
  for (std::size_t i = 0; i < sight.size(); ++i)
    row(0, static_cast<Index>(i)) = static_cast<Scalar>(sight[i]);
  return row;
}

}  // namespace

template <class Scalar>
ChunkDecay<Scalar>::ChunkDecay(const Structure& structure, const Matrix<Scalar>& gate)
    : structure_(structure), gate_(gate) {
  if (structure.decay == Decay::none) return;
  const Index L = gate.rows();
  const bool logs = structure.gates_are_logs;

  cumulative_ = gate;
  remaining_ = Matrix<Scalar>::Constant(L, gate.cols(), logs ? Scalar(0) : Scalar(1));
  for (Index i = 1; i < L; ++i) {
    const Index j = L - 1 - i;
    if (logs) {
      cumulative_.row(i) += cumulative_.row(i - 1);
      remaining_.row(j) = remaining_.row(j + 1) + gate.row(j + 1);
    } else {
      cumulative_.row(i) = cumulative_.row(i).cwiseProduct(cumulative_.row(i - 1));
      remaining_.row(j) = remaining_.row(j + 1).cwiseProduct(gate.row(j + 1));
    }
  }
  if (logs) {
    cumulative_ = exponential(cumulative_.array()).matrix();
    remaining_ = exponential(remaining_.array()).matrix();
  }

  if (structure.decay == Decay::scalar) {
    mask_ = Matrix<Scalar>::Zero(L, L);
    for (Index i = 0; i < L; ++i) {
      if (i > 0 && logs) mask_.row(i).head(i) = mask_.row(i - 1).head(i).array() + gate(i, 0);
      if (i > 0 && !logs) mask_.row(i).head(i) = mask_.row(i - 1).head(i) * gate(i, 0);
      mask_(i, i) = logs ? Scalar(0) : Scalar(1);
    }
    if (logs) {
      for (Index i = 0; i < L; ++i) mask_.row(i).head(i + 1) = exponential(mask_.row(i).head(i + 1).array());
    }
  }
}

template <class Scalar>
Matrix<Scalar> ChunkDecay<Scalar>::scores(const Matrix<Scalar>& X, std::span<const Reader> readers,
                                          const Matrix<Scalar>& Y) const {
  if (structure_.decay == Decay::key) return key_scores(X, readers, Y);
  Matrix<Scalar> Z = X * Y.transpose();
  for (Index s = 0; s < Z.rows(); ++s) {
    const auto& [decays, writes, sight] = readers[static_cast<std::size_t>(s)];
    if (structure_.decay == Decay::scalar && decays > 0) Z.row(s).array() *= mask_.row(decays - 1).array();
    Z.row(s).tail(Z.cols() - writes).setZero();
  }
  return Z;
}

/// Spec 2.1: pairs inside a sub-chunk directly, pairs across its start sigma as (prefix from sigma to i)
/// times (suffix from j to sigma), a matrix product.
template <class Scalar>
Matrix<Scalar> ChunkDecay<Scalar>::key_scores(const Matrix<Scalar>& X, std::span<const Reader> readers,
                                              const Matrix<Scalar>& Y) const {
  const Index L = gate_.rows();
  const Index K = X.cols();
  const bool logs = structure_.gates_are_logs;
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
  std::vector<std::vector<Index>> readers_after(static_cast<std::size_t>(L) + 1);  // so many decays
  for (std::size_t s = 0; s < readers.size(); ++s)
    readers_after[static_cast<std::size_t>(readers[s].decays)].push_back(static_cast<Index>(s));

  Matrix<Scalar> Z = Matrix<Scalar>::Zero(X.rows(), L);
  // weight row j: the decay from write j to the start of the present sub-chunk
  Eigen::Array<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> weight(L, K);
  for (Index start = 0; start < L; start += sub_chunk_size) {
    const Index end = std::min(start + sub_chunk_size, L);
    Row prefix = Row::Constant(K, neutral);
    std::vector<Index> inside;  // the readers of this sub-chunk
    std::vector<Row> prefixed;  // their vectors, decayed from its start
    for (Index i = start; i < end; ++i) {
      const Row factor = gate_.row(i).array();
      if (logs)
        prefix += factor;
      else
        prefix *= factor;
      if (i > start) combine(weight.middleRows(start, i - start), factor);
      weight.row(i) = neutral;
      const Index writes = i - start + 1;
      for (const Index s : readers_after[static_cast<std::size_t>(i) + 1]) {
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
      const Matrix<Scalar> across = X_prefixed * decayed(Y.topRows(start), weight.topRows(start)).transpose();
      for (std::size_t i = 0; i < inside.size(); ++i)
        Z.row(inside[i]).head(start) = across.row(static_cast<Index>(i));
      combine(weight.topRows(start), prefix);
    }
  }
  for (Index s = 0; s < Z.rows(); ++s)
    Z.row(s).tail(L - readers[static_cast<std::size_t>(s)].writes).setZero();
  return Z;
}

template <class Scalar>
Matrix<Scalar> ChunkDecay<Scalar>::from_start(const Matrix<Scalar>& X,
                                              std::span<const Reader> readers) const {
  if (structure_.decay == Decay::none) return X;
  Matrix<Scalar> decayed = X;
  for (Index s = 0; s < X.rows(); ++s) {
    const Index decays = readers[static_cast<std::size_t>(s)].decays;
    if (decays == 0) continue;
    if (structure_.decay == Decay::scalar)
      decayed.row(s) *= cumulative_(decays - 1, 0);
    else
      decayed.row(s).array() *= cumulative_.row(decays - 1).array();
  }
  return decayed;
}

template <class Scalar>
Matrix<Scalar> ChunkDecay<Scalar>::to_end(const Matrix<Scalar>& Y) const {
  return structure_.decay == Decay::none ? Y : scale_rows(Y, remaining_);
}

template <class Scalar>
Matrix<Scalar> ChunkDecay<Scalar>::over_chunk(const Matrix<Scalar>& S) const {
  const Index last = cumulative_.rows() - 1;
  if (structure_.decay == Decay::none || last < 0) return S;
  if (structure_.decay == Decay::scalar) return S * cumulative_(last, 0);
  return (S.array().colwise() * cumulative_.row(last).transpose().array()).matrix();
}

template class ChunkDecay<double>;
template class ChunkDecay<float>;

template <class Scalar>
ChunkParts<Scalar>::ChunkParts(const Program<Scalar>& program) {
  const Index L = program.rows();
  const Index p = program.structure.part_count();
  since_write_.push_back(Matrix<Scalar>::Zero(L, p));
  from_start_.push_back(Matrix<Scalar>::Identity(p, p));
  for (Index i = 0; i < L; ++i) {
    const Matrix<Scalar> T = program.transition_of(i);
    Matrix<Scalar> since_write = since_write_.back() * T.transpose();
    since_write.row(i) = program.inject.row(i);
    since_write_.push_back(std::move(since_write));
    from_start_.push_back(T * from_start_.back());
  }
  to_end_ = since_write_.back();
}

template <class Scalar>
Matrix<Scalar> ChunkParts<Scalar>::mask(std::span<const Reader> readers) const {
  const Index L = to_end_.rows();
  Matrix<Scalar> G = Matrix<Scalar>::Zero(static_cast<Index>(readers.size()), L);
  for (std::size_t s = 0; s < readers.size(); ++s) {
    const auto& [decays, writes, sight] = readers[s];
    const auto since_write = since_write_[static_cast<std::size_t>(decays)].topRows(writes);
    G.row(static_cast<Index>(s)).head(writes) = as_row<Scalar>(sight) * since_write.transpose();
  }
  return G;
}

template <class Scalar>
Matrix<Scalar> ChunkParts<Scalar>::weights_from_start(std::span<const Reader> readers) const {
  Matrix<Scalar> weights(static_cast<Index>(readers.size()), to_end_.cols());
  for (std::size_t s = 0; s < readers.size(); ++s) {
    weights.row(static_cast<Index>(s)) =
        as_row<Scalar>(readers[s].sight) * from_start_[static_cast<std::size_t>(readers[s].decays)];
  }
  return weights;
}

template <class Scalar>
Matrix<Scalar> ChunkParts<Scalar>::scores(const Matrix<Scalar>& X, std::span<const Reader> readers,
                                          const Matrix<Scalar>& Y) const {
  return (X * Y.transpose()).cwiseProduct(mask(readers));
}

template <class Scalar>
Matrix<Scalar> ChunkParts<Scalar>::from_start(const Matrix<Scalar>& X,
                                              std::span<const Reader> readers) const {
  return spread(weights_from_start(readers), X);
}

template class ChunkParts<double>;
template class ChunkParts<float>;

template <class Scalar>
ChunkValueDecay<Scalar>::ChunkValueDecay(const Structure& structure, const Matrix<Scalar>& mu)
    : exists_(structure.value_decay), mu_(mu) {
  if (!exists_) return;
  const Index L = mu.rows();
  cumulative_ = mu;
  remaining_ = Matrix<Scalar>::Ones(L, mu.cols());
  for (Index i = 1; i < L; ++i) {
    const Index j = L - 1 - i;
    cumulative_.row(i) = cumulative_.row(i).cwiseProduct(cumulative_.row(i - 1));
    remaining_.row(j) = remaining_.row(j + 1).cwiseProduct(mu.row(j + 1));
  }
}

template <class Scalar>
Matrix<Scalar> ChunkValueDecay<Scalar>::from_start(const Matrix<Scalar>& X,
                                                   std::span<const Index> after) const {
  if (!exists_) return X;
  Matrix<Scalar> faded = X;
  for (Index s = 0; s < X.rows(); ++s) {
    const Index rows = after[static_cast<std::size_t>(s)];
    if (rows > 0) faded.row(s) = faded.row(s).cwiseProduct(cumulative_.row(rows - 1));
  }
  return faded;
}

template <class Scalar>
Matrix<Scalar> ChunkValueDecay<Scalar>::to_end(const Matrix<Scalar>& U) const {
  return exists_ ? Matrix<Scalar>(U.cwiseProduct(remaining_)) : U;
}

template <class Scalar>
Matrix<Scalar> ChunkValueDecay<Scalar>::over_chunk(const Matrix<Scalar>& S) const {
  if (!exists_ || cumulative_.rows() == 0) return S;
  return (S.array().rowwise() * cumulative_.row(cumulative_.rows() - 1).array()).matrix();
}

template <class Scalar>
Matrix<Scalar> ChunkValueDecay<Scalar>::solve(const Matrix<Scalar>& N, const Matrix<Scalar>& R) const {
  Matrix<Scalar> U = R;
  Matrix<Scalar> faded(R.rows(), R.cols());  // row j: U_j as it stands at the present row
  for (Index i = 0; i < R.rows(); ++i) {
    faded.topRows(i).array().rowwise() *= mu_.row(i).array();
    U.row(i).noalias() -= N.row(i).head(i) * faded.topRows(i);
    faded.row(i) = U.row(i);
  }
  return U;
}

template <class Scalar>
Matrix<Scalar> ChunkValueDecay<Scalar>::read(const Matrix<Scalar>& P, const Matrix<Scalar>& U,
                                             std::span<const Index> after) const {
  std::vector<std::vector<Index>> reads_after(static_cast<std::size_t>(U.rows()) + 1);
  for (std::size_t s = 0; s < after.size(); ++s)
    reads_after[static_cast<std::size_t>(after[s])].push_back(static_cast<Index>(s));
  Matrix<Scalar> O = Matrix<Scalar>::Zero(P.rows(), U.cols());
  Matrix<Scalar> faded(U.rows(), U.cols());
  for (Index i = 0; i < U.rows(); ++i) {
    faded.topRows(i).array().rowwise() *= mu_.row(i).array();
    faded.row(i) = U.row(i);
    for (const Index s : reads_after[static_cast<std::size_t>(i) + 1])
      O.row(s).noalias() = P.row(s).head(i + 1) * faded.topRows(i + 1);
  }
  return O;
}

template <class Scalar>
void ChunkValueDecay<Scalar>::record(bool reads_before, Recorder& record) const {
  record("m_in", cumulative_);
  if (reads_before) record("m_before", one_row_earlier<Scalar>(cumulative_, 1));
  record("m_out", remaining_);
  record("m_total", cumulative_.bottomRows(1).transpose());
}

template class ChunkValueDecay<double>;
template class ChunkValueDecay<float>;

}  // namespace palimpsest
