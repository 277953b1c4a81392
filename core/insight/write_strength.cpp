#include "core/insight/write_strength.h"

#include <algorithm>
#include <cmath>

#include "core/base/stop.h"
#include "core/contract/sequence.h"
#include "core/rules/row_rule.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

namespace {

constexpr Index tokens_at_a_time = 256;

/// Learning rates of the steps of some tokens.
struct Rates {
  std::string name = {};        // empty: the rule has none, or what is stored is not what they belong to
  Vector<double> of_step = {};  // [N]
};

Rates rates(const Variant& variant, const Sequence& sequence, Index first, Index count) {
  if (const RowRule* const rows = variant.rule->row_program()) {
    const Program<double> program = rows->encode<double>(sequence, first, count);
    if (!program.structure.beta || program.structure.plain_write) return {};
    return {rows->notation(sequence.settings).token.beta, program.beta.col(0)};
  }
  for (const char* name : {"beta", "eta"}) {
    if (sequence.has(name)) return {name, sequence.at(name).rows<double>(first, count).col(0)};
  }
  return {};
}

}  // namespace

WriteStrengths write_strengths(const Variant& variant, const Sequence& sequence, std::stop_token stop) {
  require_answers(variant);
  WriteStrengths strengths{.of_token = Vector<double>(sequence.tokens)};
  for (Index first = 0; first < sequence.tokens; first += tokens_at_a_time) {
    stop_if_asked(stop);
    const Index count = std::min(tokens_at_a_time, sequence.tokens - first);
    const StoredPairs pairs = stored_pairs(variant, sequence, first, count);
    const Rates rate = rates(variant, sequence, first, count);
    strengths.rate = rate.name;
    const Index steps = pairs.keys.rows() / count;
    for (Index t = 0; t < count; ++t) {
      const Index last = (t + 1) * steps - 1;
      strengths.of_token(first + t) = rate.name.empty()
                                          ? pairs.keys.row(last).norm() * pairs.values.row(last).norm()
                                          : std::abs(rate.of_step(last)) * pairs.keys.row(last).squaredNorm();
    }
  }
  return strengths;
}

}  // namespace palimpsest
