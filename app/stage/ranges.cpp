#include "app/stage/ranges.h"

#include <algorithm>
#include <cmath>

#include "app/stage/cell_words.h"
#include "app/stage/scales.h"
#include "core/steps/state_steps.h"

namespace palimpsest {

namespace {

double largest_finite(const Matrix<double>& values) {
  double largest = 0;
  for (Index i = 0; i < values.size(); ++i) {
    if (std::isfinite(values.data()[i])) largest = std::max(largest, std::abs(values.data()[i]));
  }
  return largest;
}

Role role_of(const Symbols& symbols, const std::string& tensor) {
  const auto symbol = symbols.find(tensor);
  return symbol == symbols.end() ? Role::plain : symbol->second.role;
}

/// Whether what has the role of an output becomes the output only by what follows.
bool output_follows(const Phase& phase) {
  const Operation* maker = maker_of(phase, "o");
  if (!maker) maker = maker_of(phase, "O");
  return maker && maker->id != "output";
}

}  // namespace

ColourRanges::ColourRanges(const Computation& computation, const Trace& trace, const Phase& phase,
                           Record record, bool shared)
    : computation_(&computation),
      trace_(&trace),
      record_(std::move(record)),
      shared_(shared),
      output_follows_(output_follows(phase)),
      steps_of_states_(state_steps(trace)) {
  for (const Operation& operation : phase.operations) made_.insert(operation.equation.result);
}

/// The scale of the tensor's kind in the whole sequence; 0 where it has one of its own. Features of keys,
/// queries and values are of no kind: they are not what the data give. What a state is moved by is of the
/// state's kind: the two are compared.
double ColourRanges::of_kind(const std::string& tensor) const {
  if (!shared_) return 0;
  const Matrix<double>& value = record_.at(tensor);
  const bool moves_state = value.rows() > 1 && value.cols() > 1 && steps_of_states_.contains(tensor);
  const Role role = moves_state ? Role::state : role_of(trace_->symbols, tensor);
  const bool given = role == Role::key || role == Role::query || role == Role::value;
  if (given && made_.contains(tensor)) return 0;
  const bool is_output = tensor == "o" || tensor == "O";
  if (role == Role::output && output_follows_ && !is_output) return 0;
  return kind_range(*computation_, role);
}

ColourRange ColourRanges::of(const std::string& tensor) {
  if (const double kind = of_kind(tensor); kind > 0) return {kind, false};
  const auto [own, is_new] = own_.try_emplace(tensor, 0);
  if (is_new) own->second = largest_finite(record_.at(tensor));
  return {own->second, true};
}

}  // namespace palimpsest
