#include "core/insight/spectra.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.h"
#include "core/insight/written_together.h"
#include "core/numbers/singular_values.h"
#include "core/rules/stored_pairs.h"

namespace palimpsest {

double effective_rank(const Vector<double>& singular_values) {
  const double largest = singular_values.size() == 0 ? 0 : singular_values.maxCoeff();
  if (largest == 0) return 0;
  const Vector<double> relative = singular_values / largest;  // their sum cannot overflow
  const double sum = relative.sum();
  double entropy = 0;
  for (const double value : relative) {
    const double share = value / sum;
    if (share > 0) entropy -= share * std::log(share);
  }
  return std::exp(entropy);
}

std::vector<Spectrum> spectra_at(const Variant& variant, const Sequence& sequence, Index tokens,
                                 std::stop_token stop) {
  require_memory_to_ask(variant);
  const Index written = tokens_written(sequence, tokens_per_step(variant, sequence), tokens);
  std::vector<Spectrum> spectra;
  for (const auto& [name, state] : states_at(variant, sequence, written, std::move(stop))) {
    if (!state.allFinite())
      throw InputError(fmt::format("the state {} after {} tokens is not finite", name, tokens));
    const Vector<double> values = singular_values(state);
    spectra.push_back({name, values, effective_rank(values)});
  }
  return spectra;
}

}  // namespace palimpsest
