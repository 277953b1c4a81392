#include "core/insight/written_together.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/contract/sequence.h"
#include "core/operator/program.h"
#include "core/rules/inner_problem.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

Index tokens_per_step(const Variant& variant, const Sequence& sequence) {
  const Index batch = inner_batch(sequence.settings);
  if (batch < 2 || sequence.tokens < 2 || !variant.loss.problems) return 1;
  const NamedStates start = states_at(variant, sequence, 0);
  const std::vector<InnerProblem> problems =
      variant.loss.problems({*variant.rule, sequence, 0, start, start});
  // A loss of words that are still to come cannot be stepped on before they are there.
  return !problems.empty() && problems.front().token_count > 1 ? batch : 1;
}

Index tokens_written(const Sequence& sequence, Index tokens_per_step, Index tokens) {
  return tokens >= sequence.tokens ? tokens : tokens / tokens_per_step * tokens_per_step;
}

std::optional<WrittenTogether> written_together(const Variant& variant, const Sequence& sequence,
                                                Index token) {
  require_token(token, sequence.tokens);
  const Index size = tokens_per_step(variant, sequence);
  const Index first = token / size * size;
  const Index last = std::min(first + size, sequence.tokens) - 1;
  if (first == last) return std::nullopt;
  return WrittenTogether{first, last};
}

double ReadMoments::difference() const {
  const double apart = (after - before).stableNorm();
  return apart > 0 ? apart / after.stableNorm() : 0;
}

ReadMoments read_moments(const Variant& variant, const Sequence& sequence, Index token,
                         std::stop_token stop) {
  require_token(token, sequence.tokens);
  require_memory_to_ask(variant);
  const Matrix<double> query = Rows<double>{.sequence = sequence, .first = token, .count = 1}.scaled_q();
  const auto read = [&](Index tokens) {
    const NamedStates states = states_at(variant, sequence, tokens, stop);
    return Vector<double>(memory_answers(variant, sequence, states, query).transpose());
  };
  const auto [first, last] =
      written_together(variant, sequence, token).value_or(WrittenTogether{token, token});
  return {.token = token, .before = read(first), .after = read(last + 1)};
}

}  // namespace palimpsest
