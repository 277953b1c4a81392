#include "core/recall.h"

#include <algorithm>
#include <cmath>

#include "core/engines/recurrent.h"
#include "core/error.h"
#include "core/row_rule.h"

namespace palimpsest {

namespace {

constexpr Index rows_at_a_time = 64;

double half_squared_error(const Matrix<double>& S, const Matrix<double>& k, const Matrix<double>& v) {
  return 0.5 * (k * S - v).squaredNorm();
}

}  // namespace

std::optional<std::vector<Recall>> recall(const Rule& rule, const Sequence& sequence, std::stop_token stop) {
  const auto* rows = dynamic_cast<const RowRule*>(&rule);
  if (!rows) return std::nullopt;
  std::vector<Recall> recalls;
  Matrix<double> S = rows->initial_state<double>(sequence);
  for (Index first = 0; first < sequence.tokens; first += rows_at_a_time) {
    if (stop.stop_requested()) throw Cancelled();
    const Index count = std::min(rows_at_a_time, sequence.tokens - first);
    const Program<double> block = rows->encoder().encode<double>(sequence, first, count);
    const Matrix<double> alpha = block.alpha();
    for (Index t = 0; t < count; ++t) {
      const Program<double> row = block.row(t);
      Matrix<double> decayed = S;
      if (block.structure.decay == Decay::scalar) decayed *= alpha(t, 0);
      if (block.structure.decay == Decay::key) decayed.array().colwise() *= alpha.row(t).transpose().array();
      const double before = half_squared_error(decayed, row.k, row.v);
      recurrent(row, S);
      recalls.push_back({before, half_squared_error(S, row.k, row.v), S.cwiseAbs().maxCoeff(),
                         S.norm() / std::sqrt(static_cast<double>(S.size()))});
    }
  }
  return recalls;
}

}  // namespace palimpsest
