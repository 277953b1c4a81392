#include "core/engines/parts.h"

namespace palimpsest {

namespace {

template <class Scalar>
Matrix<Scalar> as_row(const std::vector<double>& sight) {
  Matrix<Scalar> row(1, static_cast<Index>(sight.size()));
  for (std::size_t i = 0; i < sight.size(); ++i)
    row(0, static_cast<Index>(i)) = static_cast<Scalar>(sight[i]);
  return row;
}

}  // namespace

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

}  // namespace palimpsest
