#pragma once

#include <string_view>

#include "core/base/matrix.h"

namespace palimpsest {

/// The names of the feature maps of kernelised attention (spec 3.3): elu1, relu, squared, taylor1, taylor2,
/// favor.
const std::vector<std::string>& feature_maps();

/// phi applied to every row of `x` [L, K]: [L, m]. `map` is one of feature_maps(). taylor1 takes x / |x| of
/// x = 0 to be 0.
template <class Scalar>
Matrix<Scalar> features(std::string_view map, const Matrix<Scalar>& x);

/// FAVOR+: exp(omega_r . x - |x|^2 / 2) / sqrt(m) for the m random directions omega, [m, K], of every row of
/// `x` [L, K]: [L, m]. Products of two such vectors are exp(q . k) on average.
template <class Scalar>
Matrix<Scalar> random_features(const Matrix<Scalar>& x, const Matrix<Scalar>& directions);

/// The number m of features that `map` makes of K channels.
Index feature_count(std::string_view map, Index channels);

/// Whether two maps make the same number of features for any number of channels; favor makes as many as it
/// has random directions.
bool same_feature_count(std::string_view map, std::string_view other);

/// Whether the denominator can be 0, so that eps > 0 is the default.
bool needs_eps(std::string_view map);

}  // namespace palimpsest
