#include "app/panels/scales.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/gl/context_local.h"

namespace palimpsest {

namespace {

constexpr double nearly_all = 0.995;         // of the numbers have colours of their own
constexpr Index enough_rows = 2048;          // tokens that are looked at; more are sampled evenly
constexpr double states_beyond_typical = 3;  // 99.7 % of normal numbers lie within three times their rms

/// What the part `share` of the finite `numbers` do not exceed; 0 if there are none.
double quantile(std::vector<double> numbers, double share) {
  std::erase_if(numbers, [](double number) { return !std::isfinite(number); });
  if (numbers.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(numbers.size())));
  const auto at = numbers.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::ranges::nth_element(numbers, at);
  return *at;
}

/// The magnitude that nearly all numbers stay below; the largest if that is zero.
double strong(const Matrix<double>& rows) {
  std::vector<double> magnitudes;
  const Index stride = std::max<Index>(rows.rows() / enough_rows, 1);
  for (Index row = 0; row < rows.rows(); row += stride) {
    for (Index column = 0; column < rows.cols(); ++column) magnitudes.push_back(std::abs(rows(row, column)));
  }
  const double most = quantile(magnitudes, nearly_all);
  return most > 0 ? most : quantile(std::move(magnitudes), 1);
}

std::vector<double> of_memories(const Computation& computation, double Recall::*member) {
  std::vector<double> numbers;
  for (const TokenFacts& facts : computation.tokens) {
    if (facts.recall) numbers.push_back((*facts.recall).*member);
  }
  return numbers;
}

/// From each memory's size, because keeping all memories would take too much room.
double strong_state(const Computation& computation) {
  const double typical = quantile(of_memories(computation, &Recall::root_mean_square), nearly_all);
  return std::min(states_beyond_typical * typical, quantile(of_memories(computation, &Recall::largest), 1));
}

/// What is known of one computation.
struct Known {
  std::uint64_t version = 0;
  double key = 0;
  double query = 0;
  double value = 0;
  double output = 0;
  double state = 0;
};

const Known& known(const Computation& computation) {
  Known& all = context_local<Known>();
  if (all.version == computation.version) return all;
  const Sequence& sequence = computation.sequence;
  all = {.version = computation.version,
         .key = sequence.has("k") ? strong(sequence.at("k").all<double>()) : 1,
         .query = strong(sequence.at("q").all<double>()),
         .value = strong(sequence.at("v").all<double>()),
          .output = strong(computation.reference->expected().o),
          .state = strong_state(computation)};
  return all;
}

}  // namespace

double kind_range(const Computation& computation, Role role) {
  const Known& all = known(computation);
  switch (role) {
    case Role::gate:
      return 1;
    case Role::key:
      return all.key;
    case Role::query:
      return all.query;
    case Role::value:
    case Role::error:
      return computation.divergence ? 0 : all.value;
    case Role::output:
      return computation.divergence ? 0 : all.output;
    case Role::state:
      return computation.divergence ? 0 : all.state;
    default:
      return 0;
  }
}

}  // namespace palimpsest
