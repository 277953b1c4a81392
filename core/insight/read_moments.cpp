#include "core/insight/read_moments.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/operator/inner_batches.h"
#include "core/operator/program.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

namespace {

/// The tokens whose writes reach the memory at once with that of `token`: those of its batch in a rule that
/// writes whole batches and says in which order, else itself.
std::pair<Index, Index> written_together(const Sequence& sequence, Index token) {
  if (!sequence.settings.options.contains("order")) return {token, token + 1};
  const Index batch = inner_batch(sequence.settings);
  const Index first = token - token % batch;
  return {first, first + std::min(batch, sequence.tokens - first)};
}

}  // namespace

double ReadMoments::difference() const {
  const double apart = (after - before).stableNorm();
  return apart > 0 ? apart / after.stableNorm() : 0;
}

ReadMoments read_moments(const Variant& variant, const Sequence& sequence, Index token,
                         std::stop_token stop) {
  if (token < 0 || token >= sequence.tokens)
    throw InputError(fmt::format("token is {}; expected 0 to {}", token, sequence.tokens - 1));
  require_memory_to_ask(variant);
  const Matrix<double> query = Rows<double>{.sequence = sequence, .first = token, .count = 1}.scaled_q();
  const auto read = [&](Index tokens) {
    const NamedStates states = states_at(variant, sequence, tokens, stop);
    return Vector<double>(memory_answers(variant, sequence, states, query).transpose());
  };
  const auto [first, end] = written_together(sequence, token);
  return {.token = token, .before = read(first), .after = read(end)};
}

}  // namespace palimpsest
