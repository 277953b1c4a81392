#include "app/session/harm_answers.h"

#include <tuple>

#include "core/base/error.h"

namespace palimpsest {

bool HarmOfStep::operator<(const HarmOfStep& other) const {
  if (of.owner_before(other.of)) return true;
  if (other.of.owner_before(of)) return false;
  return std::tie(token, rates) < std::tie(other.token, other.rates);
}

std::string HarmOfStep::question() const {
  const std::shared_ptr<const Foundation> foundation = of.lock();
  return foundation ? foundation->data->id : std::string();
}

std::shared_ptr<const HarmOfStep::Value> HarmOfStep::compute(const Effort& effort) const {
  const std::shared_ptr<const Foundation> foundation = of.lock();
  if (!foundation) throw Cancelled();
  const Variant& variant = *foundation->variant;
  Value value;
  value.pair = most_harmed(variant, foundation->sequence, token, effort.stop);
  if (!value.pair) {
    value.none = "no pair that was stored before is answered worse";
    return std::make_shared<const Value>(std::move(value));
  }
  const std::vector<LearningStep> steps = learning_at(variant, foundation->sequence, token, effort.stop);
  if (!steps.empty())
    value.losses = losses_along(variant, foundation->sequence, steps.back(), *value.pair, rates);
  return std::make_shared<const Value>(std::move(value));
}

}  // namespace palimpsest
