#include "core/engines/decay_scores.h"

#include <algorithm>

#include "core/exponential.h"

namespace palimpsest {

namespace {

constexpr Index sub_chunk_size = 16;

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
Matrix<Scalar> ChunkDecay<Scalar>::scores(const Matrix<Scalar>& X, const Matrix<Scalar>& Y) const {
  if (structure_.decay == Decay::key) return key_scores(X, Y);
  Matrix<Scalar> Z = X * Y.transpose();
  if (structure_.decay == Decay::scalar)
    Z.array() *= mask_.array();
  else
    Z.template triangularView<Eigen::StrictlyUpper>().setZero();
  return Z;
}

/// Spec 2.1: pairs inside a sub-chunk directly, pairs across its start sigma as (prefix from sigma to i)
/// times (suffix from j to sigma), a matrix product.
template <class Scalar>
Matrix<Scalar> ChunkDecay<Scalar>::key_scores(const Matrix<Scalar>& X, const Matrix<Scalar>& Y) const {
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

  Matrix<Scalar> Z = Matrix<Scalar>::Zero(L, L);
  // weight row j: the decay from write j to the start of the present sub-chunk
  Eigen::Array<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> weight(L, K);
  for (Index start = 0; start < L; start += sub_chunk_size) {
    const Index end = std::min(start + sub_chunk_size, L);
    Row prefix = Row::Constant(K, neutral);
    Matrix<Scalar> X_prefixed(end - start, K);
    for (Index i = start; i < end; ++i) {
      const Row factor = gate_.row(i).array();
      if (logs)
        prefix += factor;
      else
        prefix *= factor;
      if (i > start) combine(weight.middleRows(start, i - start), factor);
      weight.row(i) = neutral;
      X_prefixed.row(i - start) = decayed(X.row(i), prefix);
      const Index inside = i - start + 1;
      Z.row(i).segment(start, inside).noalias() =
          X.row(i) * decayed(Y.middleRows(start, inside), weight.middleRows(start, inside)).transpose();
    }
    if (start > 0) {
      Z.block(start, 0, end - start, start).noalias() =
          X_prefixed * decayed(Y.topRows(start), weight.topRows(start)).transpose();
      combine(weight.topRows(start), prefix);
    }
  }
  return Z;
}

template <class Scalar>
Matrix<Scalar> ChunkDecay<Scalar>::from_start(const Matrix<Scalar>& X) const {
  return structure_.decay == Decay::none ? X : scale_rows(X, cumulative_);
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
