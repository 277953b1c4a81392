#pragma once

#include <limits>
#include <vector>

#include "app/stage/equation_layout.h"

namespace palimpsest {

/// "result = operands" with its operands on two lines, broken where both are short and few brackets are open;
/// without parts where there is no such place.
Box broken(const Box& equation);

/// An equation on one line or on two, with wider or narrower pictures: so that words stand beside its rows,
/// or as nearly so as possible.
class BreakingEquation {
 public:
  /// Both boxes and the ruler must outlive it. `broken`: without parts, it stays on one line.
  BreakingEquation(const Box& whole, const Box& broken, const Ruler& ruler);

  /// As of EquationLayout, of the best of all.
  ImVec2 least(float width);
  ImVec2 fit(ImVec2 available, float largest_unit = std::numeric_limits<float>::infinity());
  float unit() const { return chosen().unit(); }

  /// How high it is once words stand beside all rows that have some, or is at most in this width.
  float height_with_words(float width);

  /// What the last fit() chose.
  const EquationLayout& chosen() const { return layouts_[chosen_]; }

 private:
  std::vector<EquationLayout> layouts_;  // the better ones first, where words have room
  std::size_t chosen_ = 0;
};

}  // namespace palimpsest
