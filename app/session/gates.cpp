#include "app/session/gates.h"

#include <algorithm>
#include <cmath>

namespace palimpsest {

namespace {

constexpr double beyond_stable = 1.25;  // of the largest rate that is stable for the longest key

bool is_gate(const Input& input) {
  const bool is_bounded = input.range == Range::unit || input.range == Range::positive_unit ||
                          input.range == Range::up_to_two || input.range == Range::non_negative ||
                          input.range == Range::decay;
  const bool is_along_text =
      !input.shape.empty() &&
      (input.shape.front() == "n" || input.shape.front() == "n_batches" || input.shape.front() == "batch");
  return is_bounded && is_along_text && input.name != "alpha" && input.name != "beta";
}

double longest_square(const Sequence& sequence) {
  double longest = 0;
  for (Index t = 0; t < sequence.tokens && sequence.has("k"); ++t)
    longest = std::max(longest, sequence.at("k").rows<double>(t, 1).squaredNorm());
  return longest;
}

/// The end of a slider.
double largest_of(Range range, const Sequence& sequence) {
  switch (range) {
    case Range::up_to_two:
      return 2;
    case Range::non_negative:
      return beyond_stable * 2 / std::max(longest_square(sequence), 1e-12);
    default:
      return 1;
  }
}

}  // namespace

std::vector<PlainGate> plain_gates(const Foundation& foundation) {
  std::vector<PlainGate> gates;
  const Sequence& sequence = foundation.sequence;
  for (const Input& input : inputs_of(*foundation.variant, sequence.settings)) {
    if (!is_gate(input)) continue;
    PlainGate gate{.array = input.name,
                   .meaning = input.meaning,
                   .value = input.absent == "1" ? 1.0 : 0.0,
                   .maximum = largest_of(input.range, sequence)};
    if (sequence.has(input.name)) {
      const Matrix<double> values = sequence.at(input.name).all<double>();
      if (values.size() == 0) continue;
      gate.value = values.mean();
      gate.is_constant = (values.array() == values(0, 0)).all();
      if (gate.is_constant) gate.value = values(0, 0);
    }
    if (input.range == Range::non_negative) gate.maximum = std::max(gate.maximum, gate.value);
    gates.push_back(std::move(gate));
  }
  return gates;
}

}  // namespace palimpsest
