#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/session/answers.h"
#include "app/session/computation.h"
#include "core/insight/harm.h"

namespace palimpsest {

/// The earlier pair that a token's step harms most, and its loss along the step: an answer.
struct HarmOfStep {
  struct Value {
    std::optional<HarmedPair> pair;   // nothing: no loss rises
    std::vector<double> losses = {};  // at the rates
    std::string none = {};            // why there is no pair
  };

  std::weak_ptr<const Foundation> of;
  Index token = 0;
  std::vector<double> rates = {};  // on the line along the gradient (LearningMoment::rates)

  bool operator<(const HarmOfStep& other) const;
  std::string question() const;
  std::shared_ptr<const Value> compute(const Effort& effort) const;
  static std::size_t bytes(const Value& value) {
    return sizeof(Value) + value.losses.size() * sizeof(double);
  }
  bool gone() const { return of.expired(); }
};

}  // namespace palimpsest
