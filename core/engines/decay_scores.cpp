#include "core/engines/decay_scores.h"

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

}  // namespace palimpsest
