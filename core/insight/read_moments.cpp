#include "core/insight/read_moments.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/insight/written_together.h"
#include "core/operator/program.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

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
  const auto [first, last] =
      written_together(variant, sequence, token).value_or(WrittenTogether{token, token});
  return {.token = token, .before = read(first), .after = read(last + 1)};
}

}  // namespace palimpsest
