#include "core/insight/written_outer.h"

namespace palimpsest {

namespace {

constexpr double same = 1e-9;  // of the norms: rounding

}  // namespace

std::optional<WrittenOuter> written_outer(const LearningMoment& moment) {
  if (!moment.outer || moment.written.size() != 1) return std::nullopt;
  const Matrix<double>& written = moment.written.front();
  const Vector<double> error = -moment.outer->error;
  const double squares = error.squaredNorm();
  if (error.size() != written.cols() || !(squares > 0)) return std::nullopt;
  WrittenOuter outer{written * error / squares, error};
  if (!((written - outer.key * error.transpose()).norm() <= same * written.norm())) return std::nullopt;
  const Vector<double>& key = moment.outer->key;
  const double lengths = outer.key.norm() * key.norm();
  outer.along_key = outer.key.dot(key) >= (1 - same) * lengths;
  return outer;
}

}  // namespace palimpsest
