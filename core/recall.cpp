#include "core/recall.h"

#include <algorithm>
#include <cmath>

#include "core/engines/parts.h"
#include "core/engines/recurrent.h"
#include "core/error.h"
#include "core/row_rule.h"

namespace palimpsest {

namespace {

constexpr Index tokens_at_a_time = 64;

double half_squared_error(const Matrix<double>& S, const Program<double>& row) {
  const bool plain = row.structure.plain_write;
  const Matrix<double>& k = plain ? row.k_plain : row.k;
  const Matrix<double>& v = plain ? row.v_plain : row.v;
  return 0.5 * (k * S - v).squaredNorm();
}

/// The memory as the row's query sees it: the parts of a state added up.
Matrix<double> memory(const Matrix<double>& S, const Program<double>& row) {
  return row.structure.parts.empty() ? S : seen<double>(S, row.read_sight);
}

/// The memory just before the row writes.
Matrix<double> faded(const Matrix<double>& S, const Program<double>& row) {
  if (!row.structure.parts.empty()) return memory(mixed<double>(row.transition_of(0), S), row);
  Matrix<double> kept = S;
  const Matrix<double> alpha = row.alpha();
  if (row.structure.decay == Decay::scalar) kept *= alpha(0, 0);
  if (row.structure.decay == Decay::key) kept.array().colwise() *= alpha.row(0).transpose().array();
  if (row.structure.value_decay) kept.array().rowwise() *= row.mu.row(0).array();
  return kept;
}

}  // namespace

std::optional<std::vector<Recall>> recall(const Rule& rule, const Sequence& sequence, std::stop_token stop) {
  const auto* rows = dynamic_cast<const RowRule*>(&rule);
  if (!rows) return std::nullopt;
  std::vector<Recall> recalls;
  Matrix<double> S = rows->initial_state<double>(sequence);
  for (Index first = 0; first < sequence.tokens; first += tokens_at_a_time) {
    if (stop.stop_requested()) throw Cancelled();
    const Index count = std::min(tokens_at_a_time, sequence.tokens - first);
    const Program<double> block = rows->encoder().encode<double>(sequence, first, count);
    const Index steps = block.structure.rows_per_read;
    for (Index t = 0; t < count; ++t) {
      for (Index step = 0; step + 1 < steps; ++step) recurrent(block.row(t * steps + step), S);
      const Program<double> row = block.row((t + 1) * steps - 1);
      const double before = half_squared_error(faded(S, row), row);
      recurrent(row, S);
      const Matrix<double> after = memory(S, row);
      recalls.push_back({before, half_squared_error(after, row), after.cwiseAbs().maxCoeff(),
                         after.norm() / std::sqrt(static_cast<double>(after.size()))});
    }
  }
  return recalls;
}

}  // namespace palimpsest
