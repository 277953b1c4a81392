#include "core/engines/value_decay.h"

#include "core/engines/decay_scores.h"

namespace palimpsest {

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
