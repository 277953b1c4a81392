#include "core/numbers/features.h"

#include <cmath>

#include "core/base/refuse.h"

namespace palimpsest {

namespace {

/// pack(x x^T): rows of the upper triangle, off-diagonals times sqrt 2, so that phi(q) . phi(k) = (q . k)^2.
template <class Scalar>
Matrix<Scalar> squared(const Matrix<Scalar>& x) {
  const Index K = x.cols();
  const Scalar root = std::sqrt(Scalar(2));
  Matrix<Scalar> phi(x.rows(), K * (K + 1) / 2);
  Index feature = 0;
  for (Index i = 0; i < K; ++i) {
    for (Index j = i; j < K; ++j) {
      phi.col(feature++) = x.col(i).cwiseProduct(x.col(j)) * (i == j ? Scalar(1) : root);
    }
  }
  return phi;
}

}  // namespace

const std::vector<std::string>& feature_maps() {
  static const std::vector<std::string> names = {"elu1", "relu", "squared", "taylor1", "taylor2", "favor"};
  return names;
}

Index feature_count(std::string_view map, Index channels) {
  constexpr Index most = Index{1} << 31;  // so that pairs can be counted
  if (channels > most) refuse("array \"k\" has {} channels; a feature map takes at most {}", channels, most);
  const Index pairs = channels * (channels + 1) / 2;
  if (map == "elu1" || map == "relu") return channels;
  if (map == "squared") return pairs;
  if (map == "taylor1") return 1 + channels;
  if (map == "taylor2") return 1 + channels + pairs;
  refuse("there is no feature map \"{}\"", map);
}

bool same_feature_count(std::string_view map, std::string_view other) {
  if (map == other) return true;
  if (map == "favor" || other == "favor") return false;
  constexpr Index channels = 3;  // counts that differ for any number of channels differ for this one
  return feature_count(map, channels) == feature_count(other, channels);
}

bool needs_eps(std::string_view map) { return map == "relu" || map == "squared" || map == "taylor1"; }

template <class Scalar>
Matrix<Scalar> features(std::string_view map, const Matrix<Scalar>& x) {
  if (map == "elu1") return x.unaryExpr([](Scalar value) { return value > 0 ? value + 1 : std::exp(value); });
  if (map == "relu") return x.cwiseMax(Scalar(0));
  if (map == "squared") return squared(x);
  Matrix<Scalar> phi(x.rows(), feature_count(map, x.cols()));
  phi.col(0).setOnes();
  if (map == "taylor1") {
    for (Index t = 0; t < x.rows(); ++t) {
      const Scalar length = x.row(t).stableNorm();
      phi.row(t).tail(x.cols()) = x.row(t) / (length > 0 ? length : Scalar(1));
    }
  } else {
    phi.middleCols(1, x.cols()) = x;
    phi.rightCols(phi.cols() - 1 - x.cols()) = squared(x) / std::sqrt(Scalar(2));
  }
  return phi;
}

template <class Scalar>
Matrix<Scalar> random_features(const Matrix<Scalar>& x, const Matrix<Scalar>& directions) {
  Matrix<Scalar> exponent = x * directions.transpose();
  exponent.colwise() -= (x.rowwise().squaredNorm() / Scalar(2)).eval();
  return (exponent.array().exp() / std::sqrt(static_cast<Scalar>(directions.rows()))).matrix();
}

template Matrix<double> random_features(const Matrix<double>&, const Matrix<double>&);
template Matrix<float> random_features(const Matrix<float>&, const Matrix<float>&);
template Matrix<double> features(std::string_view, const Matrix<double>&);
template Matrix<float> features(std::string_view, const Matrix<float>&);

}  // namespace palimpsest
