#pragma once

#include <algorithm>
#include <stop_token>

#include "core/base/stop.h"
#include "core/rules/row_rule.h"

namespace palimpsest {

/// Calls `visit(token, is_last, row, S)` for every row of one head's program in f64, S as the row before it
/// left it and `is_last` for the last row of a token, until it returns false. The visitor carries the row out
/// itself: recurrent(row, S). Throws Cancelled.
template <class Visit>
void walk_rows(const RowRule& rule, const Sequence& sequence, const Visit& visit,
               const std::stop_token& stop = {}) {
  constexpr Index tokens_at_a_time = 64;
  Matrix<double> S = rule.initial_state<double>(sequence);
  for (Index first = 0; first < sequence.tokens; first += tokens_at_a_time) {
    stop_if_asked(stop);
    const Index count = std::min(tokens_at_a_time, sequence.tokens - first);
    const Program<double> block = rule.encode<double>(sequence, first, count);
    const Index steps = block.structure.rows_per_read;
    for (Index r = 0; r < block.rows(); ++r) {
      if (!visit(first + r / steps, (r + 1) % steps == 0, block.row(r), S)) return;
    }
  }
}

}  // namespace palimpsest
