#include "core/insight/write_strength.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/contract/sequence.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

namespace {

constexpr Index tokens_at_a_time = 256;

}  // namespace

std::optional<WriteStrengths> token_write_strengths(const Variant& variant, const Sequence& sequence,
                                              std::stop_token stop) try {
  WriteStrengths strengths;
  strengths.by_beta = sequence.has("beta");
  for (Index first = 0; first < sequence.tokens; first += tokens_at_a_time) {
    if (stop.stop_requested()) throw Cancelled();
    const Index count = std::min(tokens_at_a_time, sequence.tokens - first);
    const StoredPairs pairs = stored_pairs(variant, sequence, first, count);
    const Index writes = pairs.keys.rows() / count;
    const Matrix<double> beta =
        strengths.by_beta ? sequence.at("beta").rows<double>(first, count) : Matrix<double>();
    for (Index t = 0; t < count; ++t) {
      double strongest = 0;
      for (Index write = t * writes; write < (t + 1) * writes; ++write) {
        const double k = pairs.keys.row(write).stableNorm();
        const double length = strengths.by_beta ? k : pairs.values.row(write).stableNorm();
        const double factor = !strengths.by_beta      ? 1
                              : beta.cols() == writes ? beta(t, write - t * writes)
                                                      : beta.row(t).mean();
        strongest = std::max(strongest, factor * k * length);
      }
      strengths.of_token.push_back(strongest);
    }
  }
  return strengths;
} catch (const Unsupported&) {
  return std::nullopt;
}

}  // namespace palimpsest
